//! Pages in headless Chromium: what it lays out, in words.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// What is put into a copy of each page.
const MEASURE: &str = include_str!("measure.js");

/// Light or dark, as a reader has set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    Dark = 0,
    Light = 1,
}

/// One page in one window.
pub struct Case<'a> {
    pub name: String,
    pub page: &'a str,
    pub width: u32,
    pub height: u32,
}

/// What the measuring script found, by name of the case. The windows are frames: a window of
/// Chromium itself is never narrower than 500 pixels.
pub fn rendered(cases: &[Case<'_>], scheme: Scheme) -> BTreeMap<String, Value> {
    let directory = tempfile::tempdir().expect("a directory");
    let mut frames = String::new();
    for (index, case) in cases.iter().enumerate() {
        let measure = format!("<script>{MEASURE}</script>");
        // First of all, so that errors of the page's own script are heard.
        let copy = case.page.replacen("<head>", &format!("<head>{measure}"), 1);
        assert_ne!(copy, case.page, "{}: no head", case.name);
        let file = format!("{index}.html");
        std::fs::write(directory.path().join(&file), copy).expect("a page");
        frames += &format!(
            "<iframe name=\"{index}\" src=\"{file}\" \
             style=\"position:absolute;top:0;left:0;border:0;width:{}px;height:{}px\"></iframe>",
            case.width, case.height
        );
    }
    let outer = format!(
        "<!doctype html><html><body><script>const all={{}};onmessage=(event)=>{{\
         all[event.data.name]=event.data.result;\
         document.getElementById('all').textContent=JSON.stringify(all).replace(/[^ -~]|[<>&]/g,\
         (c)=>'\\\\u'+c.charCodeAt(0).toString(16).padStart(4,'0'))}}</script>\
         {frames}<pre id=\"all\"></pre></body></html>"
    );
    let index = directory.path().join("index.html");
    std::fs::write(&index, outer).expect("a page");
    let dump = dumped(&index, scheme);
    let text = dump.split_once("<pre id=\"all\">").map_or("", |(_, rest)| rest);
    let text = text.split_once("</pre>").map_or("", |(text, _)| text);
    let all: Value = serde_json::from_str(text).unwrap_or(json!({}));
    let result = |(index, case): (usize, &Case<'_>)| {
        let result = all.get(index.to_string()).cloned();
        let result = result.unwrap_or_else(|| panic!("{}: no answer in:\n{dump}", case.name));
        assert!(result.get("failed").is_none(), "{}: {result}", case.name);
        (case.name.clone(), result)
    };
    cases.iter().enumerate().map(result).collect()
}

/// The document of `page` after its scripts have run.
fn dumped(page: &Path, scheme: Scheme) -> String {
    let profile = tempfile::tempdir().expect("a directory");
    let output = Command::new("timeout")
        .arg(LIMIT.as_secs().to_string())
        .arg("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"])
        .args(["--disable-background-networking", "--no-first-run"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("--blink-settings=preferredColorScheme={}", scheme as u8))
        .args(["--window-size=1400,1000", "--virtual-time-budget=60000", "--dump-dom"])
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("timeout starts");
    let said = String::from_utf8_lossy(&output.stderr);
    let advice = "scripts/install-test-needs installs what is missing";
    assert!(output.status.success(), "chromium: {}: {said}\n{advice}", output.status);
    String::from_utf8(output.stdout).expect("a document in UTF-8")
}

/// A browser that takes longer is stuck.
const LIMIT: Duration = Duration::from_secs(180);
