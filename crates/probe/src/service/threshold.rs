//! When a figure is on the other side of a bound, and when it only seems so.

use super::Figure;

/// A side of the bounds.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Side {
    /// More than the upper one.
    Above,
    /// Less than the lower one.
    Below,
}

/// Two bounds, which may be the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// What is surely more than this is [`Side::Above`].
    pub upper: f64,
    /// What is surely less than this is [`Side::Below`].
    pub lower: f64,
}

impl Bounds {
    /// The bound that was crossed to be on this side.
    pub const fn of(&self, side: Side) -> f64 {
        match side {
            Side::Above => self.upper,
            Side::Below => self.lower,
        }
    }
}

/// Follows a figure. A side is left only for the other one, and only by an estimate whose whole interval lies there: between the
/// bounds, and while an interval holds one of them, nothing is said. So noise that is within the interval is no event.
#[derive(Clone, Copy, Debug)]
pub struct Crossing {
    bounds: Bounds,
    side: Option<Side>,
}

impl Crossing {
    /// Of a figure that is not known yet.
    pub const fn new(bounds: Bounds) -> Self {
        Self { bounds, side: None }
    }

    /// The bounds.
    pub const fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Takes the next estimate: the side on which the figure is now, if it was not known to be there.
    pub fn handle(&mut self, figure: &Figure) -> Option<Side> {
        let side = self.side_of(figure)?;
        (self.side.replace(side) != Some(side)).then_some(side)
    }

    fn side_of(&self, figure: &Figure) -> Option<Side> {
        let value = figure.value.filter(|_| figure.conclusive)?;
        let least = figure.low.unwrap_or(value);
        let most = figure.high.unwrap_or(value);
        if least > self.bounds.upper {
            Some(Side::Above)
        } else if most < self.bounds.lower {
            Some(Side::Below)
        } else {
            None
        }
    }
}
