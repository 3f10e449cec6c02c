//! A rate of starts that changes over time.
//!
//! A Poisson process whose rate changes is one of rate 1 on a clock that runs faster where there is more: starts are drawn
//! on that clock, and told by the usual one (the inverse of the cumulative rate; Cinlar 1975).

use serde::Deserialize;

/// From a moment on, a part of the mean rate; until the next stretch begins, and the last for ever.
#[derive(Clone, Debug, Deserialize, PartialEq, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Stretch {
    /// When it begins, in seconds from the beginning; zero for the first.
    pub at_s: f64,
    /// How many times `starts_per_second` start in a second.
    pub factor: f64,
    /// The section that prints it, or `derived`, or `assumed`.
    pub from: String,
}

/// Whether stretches are a course: from zero on, one after the other, each with a factor from zero.
pub(super) fn is_sound(stretches: &[Stretch]) -> bool {
    let times = || stretches.iter().map(|stretch| stretch.at_s);
    let sound = |value: f64| value.is_finite() && value >= 0.0;
    times().next().is_none_or(|first| first <= 0.0)
        && times().all(sound)
        && times().is_sorted_by(|one, other| one < other)
        && stretches.iter().all(|stretch| sound(stretch.factor))
}

/// The two clocks.
#[derive(Clone, Debug, Default)]
pub(super) struct Course {
    /// When each stretch begins, by the usual clock and by the even one, and its factor. None at all is a rate that stays.
    stretches: Vec<[f64; 3]>,
}

impl Course {
    pub(super) fn new(stretches: &[Stretch]) -> Self {
        let mut clocks = Vec::<[f64; 3]>::with_capacity(stretches.len());
        for &Stretch { at_s, factor, .. } in stretches {
            let even = clocks.last().map_or(0.0, |[before, even, factor]| {
                even + (at_s - before) * factor
            });
            clocks.push([at_s, even, factor]);
        }
        Self { stretches: clocks }
    }

    /// The factor at the beginning, and as far as is known before it.
    pub(super) fn first(&self) -> f64 {
        self.stretches.first().map_or(1.0, |&[_, _, factor]| factor)
    }

    /// What the even clock shows at a time, both in seconds.
    pub(super) fn even(&self, at: f64) -> f64 {
        let found = self.stretches.iter().rev().find(|[begin, ..]| *begin <= at);
        found.map_or(at, |[begin, even, factor]| even + (at - begin) * factor)
    }

    /// When the even clock shows this; never, if it stops before.
    pub(super) fn when(&self, even: f64) -> f64 {
        // Where it stands still the time is the end of that, at which the next stretch begins.
        let found = self
            .stretches
            .iter()
            .rev()
            .find(|[_, begin, _]| *begin <= even);
        found.map_or(even, |[at, begin, factor]| {
            if *factor > 0.0 {
                at + (even - begin) / factor
            } else {
                f64::INFINITY
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(at_s: f64, factor: f64) -> Stretch {
        Stretch {
            at_s,
            factor,
            from: "assumed".into(),
        }
    }

    #[test]
    fn the_even_clock_is_the_integral_of_the_rate() {
        let course = Course::new(&[stretch(0.0, 2.0), stretch(10.0, 0.0), stretch(15.0, 0.5)]);
        let near = |one: f64, other: f64| (one - other).abs() < 1e-12;
        for (at, even) in [(0.0, 0.0), (4.0, 8.0), (25.0, 25.0)] {
            assert!(
                near(course.even(at), even) && near(course.when(even), at),
                "{at}"
            );
        }
        // While nothing starts it stands still.
        assert!(near(course.even(10.0), 20.0) && near(course.even(12.0), 20.0));
        assert!(near(course.when(20.0), 15.0));
        let none = Course::default();
        assert!(near(none.even(7.0), 7.0) && near(none.when(7.0), 7.0) && near(none.first(), 1.0));
        let ends = Course::new(&[stretch(0.0, 1.0), stretch(3.0, 0.0)]);
        assert!(ends.when(3.0).is_infinite());
    }

    #[test]
    fn what_is_no_course_is_seen() {
        assert!(is_sound(&[]));
        assert!(is_sound(&[stretch(0.0, 1.0), stretch(5.0, 0.0)]));
        for unsound in [
            vec![stretch(1.0, 1.0)],
            vec![stretch(0.0, 1.0), stretch(0.0, 2.0)],
            vec![stretch(0.0, -1.0)],
            vec![stretch(0.0, f64::NAN)],
            vec![stretch(0.0, 1.0), stretch(f64::INFINITY, 1.0)],
        ] {
            assert!(!is_sound(&unsound), "{unsound:?}");
        }
    }
}
