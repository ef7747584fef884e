//! The card of a check as the file that its name asks for: SVG, or PNG drawn from it.

use crate::outcome::Failure;
use drivelab_core::run::Run;
use drivelab_core::summary::Summary;
use drivelab_report::card_svg;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use std::path::Path;

/// Pixels of the picture for each unit of the card, so that it is sharp on any screen.
const PIXELS: f32 = 2.0;
/// Fonts that most machines have one of, the best first; else the first that is found is taken.
const FONTS: [&str; 6] =
    ["Inter", "Noto Sans", "Segoe UI", "Liberation Sans", "DejaVu Sans", "Arial"];

/// What is written to `path`; `None`: the run has no card, for it is no check that ended.
pub fn card(run: &Run, summary: &Summary, path: &Path) -> Result<Option<Vec<u8>>, Failure> {
    let Some(svg) = card_svg(run, summary) else { return Ok(None) };
    if !is_png(path) {
        return Ok(Some(svg.into_bytes()));
    }
    let advice = format!("Write it as SVG:  --card {}", path.with_extension("svg").display());
    let failed = |why: String| Failure::invalid(format!("no card as PNG: {why}")).advise(&advice);
    png(&svg, fonts()).map(Some).map_err(failed)
}

/// Whether a card of this name is a PNG.
pub fn is_png(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png"))
}

fn fonts() -> fontdb::Database {
    let mut fonts = fontdb::Database::new();
    fonts.load_system_fonts();
    fonts
}

/// Draws the card. Without a font there would be no words on it, so that is an error.
fn png(svg: &str, mut fonts: fontdb::Database) -> Result<Vec<u8>, String> {
    let has = |name: &&str| {
        let families = [fontdb::Family::Name(name)];
        fonts.query(&fontdb::Query { families: &families, ..Default::default() }).is_some()
    };
    let first = || fonts.faces().next().and_then(|face| face.families.first()).map(|it| &*it.0);
    let Some(name) = FONTS.into_iter().find(has).or_else(first).map(str::to_owned) else {
        return Err("this machine has no fonts".into());
    };
    fonts.set_sans_serif_family(name);
    let options = Options { fontdb: fonts.into(), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| error.to_string())?;
    let size = tree.size().to_int_size().scale_by(PIXELS).ok_or("it has no size")?;
    let mut pixels = Pixmap::new(size.width(), size.height()).ok_or("it is too large")?;
    resvg::render(&tree, Transform::from_scale(PIXELS, PIXELS), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SVG: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"80\" height=\"40\">\
        <rect width=\"80\" height=\"40\" fill=\"#ffffff\"/>WORDS</svg>";

    #[test]
    fn without_a_font_no_empty_card_is_written() {
        let error = png(SVG, fontdb::Database::new()).expect_err("no font");
        assert_eq!(error, "this machine has no fonts");
    }

    #[test]
    fn words_are_drawn_in_a_font_of_the_machine() {
        let words = "<text x=\"4\" y=\"30\" font-family=\"system-ui,sans-serif\">IOPS</text>";
        let drawn = |words: &str| png(&SVG.replace("WORDS", words), fonts());
        match drawn(words) {
            Ok(with) => assert!(with.starts_with(b"\x89PNG") && Ok(with) != drawn("")),
            Err(error) => assert!(fonts().is_empty(), "{error}"),
        }
        assert!(is_png(Path::new("x.PNG")) && !is_png(Path::new("x.svg")));
    }
}
