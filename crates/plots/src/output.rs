//! A figure as SVG, and SVG as PNG and PDF.

use crate::draw;
use crate::figure::Figure;
use crate::text;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};
use std::path::Path;

/// Dots per inch at which a unit of SVG is a dot.
const NATURAL_DPI: f32 = 100.0;

/// Most dots of a PNG: a square metre at 250 to the inch.
const MOST_DOTS: f32 = 100e6;

/// A file format of figures.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Format {
    /// Shapes, for browsers and editors; its font is a name.
    Svg,
    /// Dots.
    Png,
    /// Shapes and the font, for papers.
    Pdf,
}

/// Why a figure could not be made. Each message is one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file's name does not tell the format.
    #[error("'{0}' does not say what to draw - end the name with .png, .svg or .pdf")]
    Name(String),
    /// The figure is too large, or has no size.
    #[error("a figure of {width} x {height} dots cannot be drawn - choose another size or dpi")]
    Size {
        /// Dots across.
        width: f32,
        /// Dots down.
        height: f32,
    },
    /// The renderer does not take the drawing.
    #[error("the figure cannot be drawn as {format}: {reason} - write it as .svg")]
    Render {
        /// What was to be made.
        format: &'static str,
        /// What is said of it.
        reason: String,
    },
}

impl Format {
    /// The format of a file with that name.
    ///
    /// # Errors
    /// [`Error::Name`].
    pub fn of(path: &Path) -> Result<Self, Error> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        match extension.as_deref() {
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            Some("pdf") => Ok(Self::Pdf),
            _ => Err(Error::Name(path.display().to_string())),
        }
    }
}

impl Figure {
    /// The figure as a file of that format; a PNG has `dpi` dots per inch.
    ///
    /// # Errors
    /// [`Error::Size`] and [`Error::Render`].
    pub fn render(&self, format: Format, dpi: f32) -> Result<Vec<u8>, Error> {
        self.check(dpi)?;
        let svg = draw::draw(self);
        match format {
            Format::Svg => Ok(svg.into_bytes()),
            Format::Png => png(&svg, dpi),
            Format::Pdf => pdf(&svg),
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "no figure is that precise")]
    fn check(&self, dpi: f32) -> Result<(), Error> {
        let (width, height) = (self.size_in.0 as f32 * dpi, self.size_in.1 as f32 * dpi);
        let is_drawable = width >= 1.0 && height >= 1.0 && width * height <= MOST_DOTS;
        if is_drawable {
            Ok(())
        } else {
            Err(Error::Size { width, height })
        }
    }
}

fn tree(svg: &str, format: &'static str) -> Result<Tree, Error> {
    let options = Options {
        font_family: text::FAMILY.to_owned(),
        fontdb: text::fonts(),
        ..Options::default()
    };
    Tree::from_str(svg, &options).map_err(|error| failed(format, &error))
}

fn failed(format: &'static str, error: &dyn std::fmt::Display) -> Error {
    Error::Render {
        format,
        reason: error.to_string(),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked: no more dots than there is room for"
)]
fn png(svg: &str, dpi: f32) -> Result<Vec<u8>, Error> {
    let tree = tree(svg, "PNG")?;
    let scale = dpi / NATURAL_DPI;
    let size = tree.size();
    let (width, height) = (
        (size.width() * scale).round(),
        (size.height() * scale).round(),
    );
    let dots = Pixmap::new(width as u32, height as u32);
    let mut dots = dots.ok_or(Error::Size { width, height })?;
    resvg::render(
        &tree,
        Transform::from_scale(scale, scale),
        &mut dots.as_mut(),
    );
    dots.encode_png().map_err(|error| failed("PNG", &error))
}

fn pdf(svg: &str) -> Result<Vec<u8>, Error> {
    // The PDF library has its own name for the same renderer.
    let tree = tree(svg, "PDF")?;
    let page = svg2pdf::PageOptions { dpi: NATURAL_DPI };
    svg2pdf::to_pdf(&tree, svg2pdf::ConversionOptions::default(), page)
        .map_err(|error| failed("PDF", &error))
}
