//! The font, and how wide a text is in it.

use std::sync::{Arc, OnceLock};
use ttf_parser::Face;

/// Its name in SVG.
pub(crate) const FAMILY: &str = "DejaVu Sans";
/// Units of length in a point (1/72 inch).
pub(crate) const POINT: f64 = 100.0 / 72.0;
/// Width of a character that the font does not have, in ems.
const UNKNOWN: f64 = 0.6;

/// The font: `DejaVu` Sans 2.37, under the free licence of Bitstream Vera.
pub(crate) fn font() -> &'static [u8] {
    dejavu::sans::regular()
}

/// The font as PNG and PDF want it.
pub(crate) fn fonts() -> Arc<resvg::usvg::fontdb::Database> {
    let mut fonts = resvg::usvg::fontdb::Database::new();
    fonts.load_font_data(font().to_vec());
    Arc::new(fonts)
}

/// Width of a text of that size (in points), in hundredths of an inch.
pub(crate) fn width(text: &str, size_pt: f64) -> f64 {
    static FACE: OnceLock<Option<Face<'static>>> = OnceLock::new();
    let face = FACE.get_or_init(|| Face::parse(font(), 0).ok());
    let ems: f64 = text.chars().map(|c| advance(face.as_ref(), c)).sum();
    ems * size_pt * POINT
}

/// How far a character moves the pen, in ems.
fn advance(face: Option<&Face<'_>>, character: char) -> f64 {
    let known = face.and_then(|face| {
        let glyph = face.glyph_index(character)?;
        let units = f64::from(face.glyph_hor_advance(glyph)?);
        Some(units / f64::from(face.units_per_em()))
    });
    known.unwrap_or(UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_as_wide_as_its_characters() {
        // 1,401 units of 2,048 to the em: the 'A' of the font.
        let letter = width("A", 72.0);
        assert!(
            (letter - 100.0 * 1_401.0 / 2_048.0).abs() < 1e-9,
            "{letter}"
        );
        assert!((width("AAA", 72.0) - 3.0 * letter).abs() < 1e-9);
        assert!(width("\u{10ffff}", 10.0) > 0.0);
    }
}
