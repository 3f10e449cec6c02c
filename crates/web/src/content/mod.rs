//! What a server says when it is asked for an object of a page: made up on the spot, never stored.
//!
//! A real browser that is given the document finds exactly the objects of the model, each from the
//! object that reveals it: tags in the document, `url()` and `@import` in style sheets, calls in scripts.
//! Images are images and are decoded; fonts are noise, which a browser fetches before it refuses
//! it. What is missing to the size of the model is filled with letters that no compression of the
//! transport could save: 6 bits in 8, and no repetition within 64 KiB.

mod body;
mod markup;
#[cfg(test)]
mod tests;

pub(crate) use body::{Content, Segment};
pub(crate) use markup::{Urls, layout, least};

use crate::result::Kind;

/// The `Content-Type` of an object (RFC 9110 section 8.3).
pub(crate) const fn media_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Document => "text/html; charset=utf-8",
        Kind::Style => "text/css; charset=utf-8",
        Kind::Script => "text/javascript; charset=utf-8",
        Kind::Image => "image/gif",
        Kind::Font => "font/woff2",
        Kind::Fetch => "application/json",
        Kind::Other => "application/octet-stream",
    }
}
