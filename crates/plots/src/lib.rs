//! Figures of measurements as SVG, PNG and PDF: the same octets on every machine.
//!
//! A [`Figure`] is a title, one or more panels above each other, and a line at its foot. A [`Panel`] has an axis of x, one or
//! two of y, and marks: lines and boxes. Whoever makes a figure says what is drawn where in the data's own units; this crate
//! finds room for titles, tick labels and legends, and draws.
//!
//! | module | does |
//! |---|---|
//! | [`figure`] | what a figure is |
//! | [`ticks`] | where an axis has ticks, and what they are called |
//! | [`mod@text`] | the font, and how wide a text is in it |
//! | [`layout`] | where panels, legends and titles are |
//! | [`draw`] | a figure in its layout |
//! | [`thin`] | lines of no more points than can be seen |
//! | [`svg`] | shapes as SVG |
//! | [`output`] | SVG as PNG and PDF |
//!
//! SVG is what is drawn; PNG and PDF are made of it. The font, `DejaVu` Sans, is part of the program, so no figure depends on
//! the fonts of a system. All lengths are in hundredths of an inch: a figure of 6.4 by 4.8 inches has 640 by 480 of them.
#![forbid(unsafe_code)]

mod draw;
mod figure;
mod layout;
mod output;
mod svg;
mod text;
mod thin;
mod ticks;

pub use figure::{Axis, Figure, Group, Mark, Panel, Shape, Side, Stroke, Ticks};
pub use output::{Error, Format};
