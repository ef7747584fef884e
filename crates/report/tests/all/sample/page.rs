//! What holds of every page.

use drivelab_core::run::Run;
use drivelab_core::summary::summarise;
use drivelab_report::html::page;
use std::path::Path;

const BYTES_MAX: usize = 300_000;

/// The page of a run, left where it can be looked at.
pub fn written(name: &str, run: &Run) -> String {
    let text = page(run, &summarise(run));
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, &text).unwrap();
    println!("{} bytes in {}", text.len(), path.display());
    text
}

/// What holds of every page: self-contained, small, and no number that is none.
pub fn sound(page: &str) {
    for banned in ["http", "xmlns", "NaN", "inf ", "-inf", "src=", "@import", "url("] {
        assert!(!page.contains(banned), "{banned}");
    }
    script(page);
    assert!(page.len() < BYTES_MAX, "{} bytes", page.len());
    for (open, close) in [("<svg", "</svg>"), ("<figure", "</figure>"), ("<section", "</section>")]
    {
        assert_eq!(page.matches(open).count(), page.matches(close).count(), "{open}");
    }
}

/// Exactly one script, at the end, that can reach no network and runs no text as code.
fn script(page: &str) {
    assert_eq!(page.matches("<script").count(), 1);
    let script = page.rsplit_once("<script>").unwrap().1.split_once("</script>").unwrap().0;
    for banned in [
        "fetch",
        "XMLHttpRequest",
        "import",
        "WebSocket",
        "EventSource",
        "sendBeacon",
        "Image",
        "Worker",
        "http",
        "eval",
        "Function",
        "location",
        "cookie",
        "Storage",
    ] {
        assert!(!script.contains(banned), "{banned} in the script");
    }
}
