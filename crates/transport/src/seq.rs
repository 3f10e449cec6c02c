//! Numbers of segments, which wrap.

use std::fmt;

/// The number of a segment: counts segments modulo 2^32, and is compared as RFC 1982 says (section 3.2), so that a transfer may
/// pass the wrap.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Seq(pub u32);

impl Seq {
    /// The number `count` after this one.
    #[must_use]
    pub const fn plus(self, count: u32) -> Self {
        Self(self.0.wrapping_add(count))
    }

    /// How far this is after `other`; negative before it.
    pub const fn minus(self, other: Self) -> i32 {
        self.0.wrapping_sub(other.0).cast_signed()
    }

    /// Whether this comes before `other`.
    pub const fn before(self, other: Self) -> bool {
        self.minus(other) < 0
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
