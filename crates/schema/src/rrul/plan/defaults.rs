//! What a plan means where it says nothing.

use units::{Bytes, HttpVersion, Span};

pub(super) const fn shoulder() -> Span {
    Span::from_millis(5_000)
}

pub(super) const fn settle() -> Span {
    Span::from_millis(2_000)
}

pub(super) const fn duration() -> Span {
    Span::from_millis(60_000)
}

pub(super) const fn one() -> u16 {
    1
}

pub(super) const fn one_server() -> u8 {
    1
}

pub(super) const fn probe_size() -> Bytes {
    Bytes::new(64)
}

pub(super) const fn probe_gap() -> Span {
    Span::from_millis(1)
}

/// The specification's interval.
pub(super) const fn call_every() -> Span {
    Span::from_millis(10)
}

/// Time for a few idle loads of a megabyte.
pub(super) const fn web_before() -> Span {
    Span::from_millis(8_000)
}

/// Between two page loads: connections of the last one have gone.
pub(super) const fn web_pause() -> Span {
    Span::from_millis(200)
}

/// Often enough for ten answers before the load; a router that allows itself one a second answers every other.
pub(super) const fn trace_every() -> Span {
    Span::from_millis(500)
}

pub(super) const fn trace_hops() -> u8 {
    16
}

pub(super) fn h2() -> Vec<HttpVersion> {
    vec![HttpVersion::H2]
}
