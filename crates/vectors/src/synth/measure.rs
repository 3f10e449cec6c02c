//! A fit to a set of vectors: quantiles and means of each quantity, as D prints them of its two, and more of them.

use super::fit::{CAPTURED, MEASURES, MOST_COUNTED};
use super::{Check, Cited, Fit, Knot, LossShare, Losses, Marginal, Statistic, Stretch};
use super::{Window, Windows};
use crate::describe::{Describer, Measure};
use crate::sketch::Sketch;
use core::time::Duration;
use std::collections::BTreeMap;

/// Where a number of such a fit stands.
const MEASURED: &str = "measured";
/// Where one stands that is reckoned from what is measured.
const DERIVED: &str = "derived";
/// Of what a set has none.
const ASSUMED: &str = "assumed";
/// Quantiles that are taken, as far as there are values beyond.
const QUANTILES: [f64; 18] = [
    0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999,
    0.9999,
];
/// Counts whose shares are taken: these, and each power of ten of them.
const COUNTS: [u64; 11] = [2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 40];
/// Waits longer than this part of a capture are left to the tail: what it sees of them says little of how many there are.
const LONG: f64 = 0.5;
/// Connections that are cut may have had as many epochs, or ADUs.
const BEYOND: f64 = 1e4;
/// Values beyond a knot, at least.
const FEW: f64 = 10.0;
/// Parts of windows, and of losses.
const PARTS: u32 = 20;
/// Stretches of a course.
const STRETCHES: usize = 12;
/// Starts in a stretch, at least.
const FEW_STARTS: f64 = 100.0;

/// What vectors were captured in.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Captures {
    /// How many captures they are of.
    pub number: u32,
    /// The length of one of them, or their mean length.
    pub length: Duration,
    /// Of sequential and concurrent connections whose close is not in them ([`Body::is_unfinished`](crate::Body::is_unfinished)):
    /// when they said their last, from the beginning of the capture.
    pub cut: [Vec<Duration>; 2],
}

impl Captures {
    /// Whether any connection is cut. If not, nothing was in progress at either end.
    pub fn is_cut(&self) -> bool {
        self.cut.iter().any(|kind| !kind.is_empty())
    }

    /// Connections of a kind that were in progress at the beginning of a capture, and did not start in it. If the traffic is
    /// stationary, they are as many as at its end. If next to none has a close, the set does not tell.
    fn in_progress(&self, kind: usize, connections: u64) -> &[Duration] {
        let closed = connections.saturating_sub(self.cut[kind].len() as u64);
        if closed > connections / 20 {
            &self.cut[kind]
        } else {
            &[]
        }
    }
}

impl Fit {
    /// A fit to what a describer has seen of TCP. There is none to no connection, nor over no time.
    ///
    /// Connections that were in progress at the beginning did not start in it. So there are fewer starts than connections, and
    /// a whole connection has more epochs, or ADUs, than one that is seen: all there are, by the number of starts. The rate
    /// changes over time if there is one capture, in which it changes more than by chance.
    pub fn measure(set: &Describer, captures: &Captures, name: &str) -> Option<Self> {
        let description = set.describe(name);
        let connections = description.connections;
        let length = captures.length.as_secs_f64();
        let seconds = length * f64::from(captures.number);
        if connections.all == 0 || seconds <= 0.0 {
            return None;
        }
        // A set of which nothing is cut has all waits.
        let seen = captures.is_cut().then_some(length);
        let kinds = [connections.sequential, connections.concurrent];
        let in_progress = [0, 1].map(|kind| captures.in_progress(kind, kinds[kind]));
        let starts = [0, 1].map(|kind| (kinds[kind] - in_progress[kind].len() as u64) as f64);
        let marginal = |measure| {
            let seen = seen.filter(|_| CAPTURED.contains(&measure));
            (
                measure,
                marginal(measure, set, seen.map(|seconds| seconds * 1e3)),
            )
        };
        let mut marginals = BTreeMap::from(MEASURES.map(marginal));
        let counts = [Measure::Epochs, Measure::ConcurrentAdus];
        for ((measure, starts), all) in counts.into_iter().zip(starts).zip(kinds) {
            if let Some(marginal) = marginals.get_mut(&measure).filter(|_| starts > 0.0) {
                lengthen(marginal, all as f64 / starts);
            }
        }
        let [sequential, concurrent] = starts;
        let all = sequential + concurrent;
        let longest = CAPTURED.map(|measure| marginals[&measure].most / 1e3);
        let course = Course {
            bin_s: description.course.bin_s,
            starts: &description.course.starts,
            seconds,
            earlier: in_progress,
        };
        let course = (captures.number == 1).then(|| course.stretches());
        let windows = |measure| windows(set.sketch(measure));
        let losses = |measure| losses(set.sketch(measure));
        Some(Self {
            name: name.to_owned(),
            summary: format!(
                "measured: {} connections in {seconds:.3} s",
                connections.all
            ),
            capture_s: seen.map(|length| longest.into_iter().fold(length, f64::max)),
            starts_per_second: all / seconds,
            course: course.unwrap_or_default(),
            concurrent_share: concurrent / all,
            marginals,
            windows: Windows {
                initiator: windows(Measure::InitiatorWindowBytes),
                acceptor: windows(Measure::AcceptorWindowBytes),
            },
            losses: Losses {
                initiator: losses(Measure::InitiatorLoss),
                acceptor: losses(Measure::AcceptorLoss),
            },
        })
    }
}

/// Makes the number of epochs, or ADUs, of connections that were cut that of whole ones, which is so many times as large.
fn lengthen(marginal: &mut Marginal, longer: f64) {
    if longer > 1.0 {
        marginal.mean.value *= longer;
        DERIVED.clone_into(&mut marginal.mean.from);
        marginal.checks.clear();
        marginal.most = marginal.most.max(BEYOND);
    }
}

fn cited(value: f64, from: &str) -> Cited {
    Cited {
        value,
        from: from.to_owned(),
    }
}

/// The distribution of a measure, seen in a capture of that length if it is a wait; where the set has no value, a constant.
fn marginal(measure: Measure, set: &Describer, capture: Option<f64>) -> Marginal {
    let sketch = set.sketch(measure);
    let whole = matches!(measure, Measure::Epochs | Measure::ConcurrentAdus);
    let scale = measure.unit().per_count();
    let Some(((least, most), mean)) = sketch.min().zip(sketch.max()).zip(sketch.mean()) else {
        return constant(measure, whole);
    };
    // Nothing may be zero, which of times is less than can be told.
    let value = |count: f64| count.max(1.0) / scale;
    let highest = if whole { MOST_COUNTED } else { f64::INFINITY };
    let (least, most) = (value(least as f64), value(most as f64).min(highest));
    let knots = if whole {
        count_knots(sketch, least)
    } else {
        let at = |p: f64| (p, sketch.quantile(p).map_or(least, value));
        let enough = |p: &f64| (1.0 - p) * sketch.count() as f64 >= FEW || *p <= 0.5;
        let long = capture.map_or(f64::INFINITY, |capture| LONG * capture);
        let knots = QUANTILES.into_iter().filter(enough).map(at);
        let short = |&(place, (_, value)): &(usize, (f64, f64))| place == 0 || value <= long;
        let knots = knots.enumerate().take_while(short);
        knots.map(|(_, knot)| knot).collect()
    };
    let knots = knots.into_iter().map(|(p, value)| Knot {
        p,
        value: value.clamp(least, most),
        from: MEASURED.to_owned(),
    });
    let deviation = sketch.deviation().map(|deviation| deviation / scale);
    let check = |value| Check {
        statistic: Statistic::Deviation,
        value,
        from: MEASURED.to_owned(),
    };
    Marginal {
        least,
        most,
        whole,
        tail: None,
        mean: cited(value(mean), MEASURED),
        knots: knots.collect(),
        checks: deviation
            .filter(|&value| value > 0.0)
            .map(check)
            .into_iter()
            .collect(),
    }
}

/// Counts from which on lies a share, smaller at each.
fn count_knots(sketch: &Sketch, least: f64) -> Vec<(f64, f64)> {
    let decades = [1, 10, 100, 1_000, 10_000];
    let counts = decades
        .into_iter()
        .flat_map(|decade| COUNTS.map(|count| count * decade));
    let mut counts: Vec<u64> = counts.collect();
    counts.sort_unstable();
    let mut knots: Vec<(f64, f64)> = Vec::new();
    for count in counts {
        let share = sketch.share_from(count).unwrap_or_default();
        let below = 1.0 - share;
        let before = knots.last().map_or(0.0, |&(p, _)| p);
        if below > before && share < 1.0 && share * sketch.count() as f64 >= FEW {
            knots.push((below, count as f64));
        }
    }
    if knots.is_empty() {
        knots.push((0.5, least));
    }
    knots
}

fn constant(measure: Measure, whole: bool) -> Marginal {
    let value = match measure {
        Measure::ConcurrentAdus => 2.0,
        Measure::MinRttMs => 100.0,
        _ => 1.0,
    };
    Marginal {
        least: value,
        most: value,
        whole,
        tail: Some(0.0),
        mean: cited(value, ASSUMED),
        knots: vec![Knot {
            p: 0.5,
            value,
            from: ASSUMED.to_owned(),
        }],
        checks: Vec::new(),
    }
}

/// The values in the middle of equal parts of a share of all, the same ones together.
fn parts(sketch: &Sketch, from: f64) -> Vec<(f64, f64)> {
    let size = (1.0 - from) / f64::from(PARTS);
    let mut parts: Vec<(f64, f64)> = Vec::new();
    for part in 0..PARTS {
        let value = sketch.quantile(from + size * (f64::from(part) + 0.5));
        let Some(value) = value.map(f64::round) else {
            return Vec::new();
        };
        match parts.last_mut() {
            Some((share, last)) if (*last - value).abs() < 0.5 => *share += size,
            _ => parts.push((size, value)),
        }
    }
    parts
}

fn windows(sketch: &Sketch) -> Vec<Window> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturating, and not below zero"
    )]
    let window = |(share, octets): (f64, f64)| Window {
        share: share.min(1.0),
        octets: octets as u32,
        from: MEASURED.to_owned(),
    };
    let windows: Vec<_> = parts(sketch, 0.0).into_iter().map(window).collect();
    if windows.is_empty() {
        return vec![Window {
            share: 1.0,
            octets: 65_535,
            from: ASSUMED.to_owned(),
        }];
    }
    windows
}

/// Losses of the connections that have any; the sketch has millionths.
fn losses(sketch: &Sketch) -> Vec<LossShare> {
    let some = sketch.share_from(1).unwrap_or_default();
    if some <= 0.0 {
        return Vec::new();
    }
    let loss = |(share, millionths): (f64, f64)| LossShare {
        share: share.min(1.0),
        loss: (millionths / 1e6).clamp(0.0, 1.0),
        from: MEASURED.to_owned(),
    };
    parts(sketch, 1.0 - some).into_iter().map(loss).collect()
}

/// Starts over time.
struct Course<'a> {
    bin_s: f64,
    starts: &'a [u64],
    seconds: f64,
    /// Connections in progress at the end: when they said their last. Those at the beginning say their first as long after it as
    /// these said their last before the end, since a stationary process is the same backwards; they did not start then.
    earlier: [&'a [Duration]; 2],
}

impl Course<'_> {
    /// The starts, without the connections that had started earlier.
    fn later(&self) -> Vec<f64> {
        let mut starts: Vec<f64> = self.starts.iter().map(|&starts| starts as f64).collect();
        for last in self.earlier.into_iter().flatten() {
            let first = (self.seconds - last.as_secs_f64()).max(0.0);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "saturating, and not below zero"
            )]
            let bin = (first / self.bin_s) as usize;
            if let Some(starts) = starts.get_mut(bin) {
                *starts -= 1.0;
            }
        }
        starts
    }

    /// The rate in equal stretches; none where it changes no more than chance makes it.
    fn stretches(&self) -> Vec<Stretch> {
        let starts = self.later();
        let all: f64 = starts.iter().sum();
        let number = usize::min(STRETCHES, self.starts.len());
        if number < 2 || all < FEW_STARTS * number as f64 {
            return Vec::new();
        }
        let bins = self.starts.len().div_ceil(number);
        let mut stretches = Vec::new();
        let mut squares = 0.0;
        for (place, part) in starts.chunks(bins).enumerate() {
            let at_s = self.bin_s * (place * bins) as f64;
            let end = (at_s + self.bin_s * bins as f64).min(self.seconds);
            let expected = all * (end - at_s) / self.seconds;
            if expected < FEW {
                break;
            }
            let found = part.iter().sum::<f64>().max(0.0);
            squares += (found - expected) * (found - expected) / expected;
            stretches.push(Stretch {
                at_s,
                factor: found / expected,
                from: MEASURED.to_owned(),
            });
        }
        // Pearson's statistic: of a constant rate its mean is the degrees of freedom, and its variance twice that.
        let freedom = stretches.len().saturating_sub(1) as f64;
        if squares < freedom + 4.0 * f64::sqrt(2.0 * freedom) {
            stretches.clear();
        }
        stretches
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Vector;
    use crate::model::samples::any_vector;
    use crate::synth::Synthesis;
    use crate::synth::timeline::Timeline;
    use proptest::prelude::*;

    fn described(set: impl Iterator<Item = Vector>) -> Describer {
        let mut describer = Describer::default();
        set.for_each(|vector| describer.enter(&vector));
        describer
    }

    fn one(seconds: u64) -> Captures {
        Captures {
            number: 1,
            length: Duration::from_secs(seconds),
            ..Captures::default()
        }
    }

    /// UNC's mix with waits of 5 s and connections of 50 ADUs at most: few of them last longer than a minute.
    fn short() -> Fit {
        let mut mix = Fit::named("unc-2008").unwrap();
        mix.capture_s = None;
        for measure in CAPTURED {
            let marginal = mix.marginals.get_mut(&measure).unwrap();
            (marginal.most, marginal.tail) = (5_000.0, Some(0.5));
            marginal.knots.retain(|knot| knot.value < 2_000.0);
        }
        let counts = [Measure::Epochs, Measure::ConcurrentAdus];
        for measure in counts {
            let marginal = mix.marginals.get_mut(&measure).unwrap();
            (marginal.most, marginal.tail) = (50.0, Some(0.5));
            marginal.knots.retain(|knot| knot.value < 50.0);
        }
        mix
    }

    /// What a fit was made of has its quantiles and means, and so has what is made of the fit to that: distances of
    /// distributions are those of two samples.
    ///
    /// Holds tmix/parametric.
    #[test]
    fn a_fit_to_a_set_makes_sets_like_it() {
        let mix = short();
        let span = Duration::from_secs(60);
        let vectors: Vec<_> = Synthesis::new(&mix, span, 0.2, 5).stationary().collect();
        let unfinished = |sequential: bool| {
            let of_kind = |vector: &&Vector| vector.body.is_sequential() == sequential;
            let of_kind = vectors.iter().filter(of_kind);
            let unfinished = of_kind.filter(|vector| vector.body.is_unfinished());
            let last = |vector: &Vector| vector.start + Timeline::of(vector).end();
            unfinished.map(last).collect()
        };
        let captures = Captures {
            cut: [unfinished(true), unfinished(false)],
            ..one(60)
        };
        let set = described(vectors.into_iter());
        let fit = Fit::measure(&set, &captures, "mine").unwrap();
        assert_eq!(Fit::parse(&fit.to_toml()).unwrap(), fit);
        for statement in fit.statements() {
            println!("{statement}");
            let allowed = match statement.statistic {
                Statistic::Deviation => 1.0,
                Statistic::Mean => 0.05,
                _ => 1e-6,
            };
            assert!(statement.error().abs() <= allowed, "{statement}");
        }
        assert!(
            (fit.starts_per_second / 260.2 - 1.0).abs() < 0.05,
            "{}",
            fit.starts_per_second
        );
        assert!(
            (fit.concurrent_share - 0.0246).abs() < 0.005,
            "{}",
            fit.concurrent_share
        );
        let windows = fit.windows.initiator.last().unwrap();
        assert!((windows.share - 0.65).abs() < 0.06, "{windows:?}");
        let again = described(Synthesis::new(&fit, span, 1.0, 6).stationary());
        for measure in MEASURES {
            let distance = set.sketch(measure).distance(again.sketch(measure)).unwrap();
            println!("{measure:?} {distance}");
            // Numbers are those of connections that were cut already, and are cut again.
            let counted = matches!(measure, Measure::Epochs | Measure::ConcurrentAdus);
            let allowed = if counted { 0.15 } else { 0.05 };
            assert!(distance < allowed, "{measure:?} {distance}");
        }
    }

    /// Four times the rate in the second half; a rate that stays is told as one.
    #[test]
    fn a_rate_that_changes_is_found() {
        let mut fit = Fit::named("unc-2008").unwrap();
        let constant = described(Synthesis::new(&fit, Duration::from_secs(20), 0.2, 1));
        let course = |set: &Describer| Fit::measure(set, &one(20), "").unwrap().course;
        assert_eq!(course(&constant), []);
        fit.course = [(0.0, 0.4), (10.0, 1.6)]
            .map(|(at_s, factor)| Stretch {
                at_s,
                factor,
                from: ASSUMED.to_owned(),
            })
            .to_vec();
        let found = course(&described(Synthesis::new(
            &fit,
            Duration::from_secs(20),
            0.2,
            1,
        )));
        assert!(found.len() > 8);
        for stretch in found {
            let wanted = if stretch.at_s < 8.0 { 0.4 } else { 1.6 };
            let near = (stretch.factor / wanted - 1.0).abs() < 0.2;
            assert!(near || (8.0..11.0).contains(&stretch.at_s), "{stretch:?}");
        }
    }

    #[test]
    fn losses_are_those_of_the_set() {
        let mut fit = Fit::named("ibm-2006").unwrap();
        let lost = |share, loss| LossShare {
            share,
            loss,
            from: ASSUMED.to_owned(),
        };
        fit.losses.acceptor = vec![lost(0.25, 0.01), lost(0.25, 0.2)];
        let set = described(Synthesis::new(&fit, Duration::from_secs(10), 0.5, 1));
        let found = Fit::measure(&set, &one(10), "").unwrap().losses;
        assert_eq!(found.initiator, []);
        for (loss, wanted) in [(0.01, 0.25), (0.2, 0.25)] {
            let near = found
                .acceptor
                .iter()
                .filter(|found| (found.loss / loss - 1.0).abs() < 0.01);
            let share: f64 = near.map(|found| found.share).sum();
            assert!((share - wanted).abs() < 0.05, "{loss} {share}");
        }
    }

    #[test]
    fn nothing_has_no_fit() {
        assert_eq!(Fit::measure(&Describer::default(), &one(9), ""), None);
        let some = described(Synthesis::new(
            &Fit::named("unc-2008").unwrap(),
            Duration::from_secs(1),
            0.1,
            1,
        ));
        assert_eq!(Fit::measure(&some, &one(0), ""), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn any_set_has_a_fit(set in prop::collection::vec(any_vector(), 1..40), seconds in 1..10_000_u64, name in ".*") {
            let describer = described(set.into_iter());
            let fit = Fit::measure(&describer, &one(seconds), &name).unwrap();
            prop_assert_eq!(&Fit::parse(&fit.to_toml()).unwrap(), &fit);
            prop_assert!(Synthesis::new(&fit, Duration::from_secs(seconds), 1.0, 1).take(20).count() <= 20);
        }
    }
}
