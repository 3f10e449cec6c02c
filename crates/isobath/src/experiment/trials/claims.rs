//! T's claims, each held against what was found by a rule that stands beside it.
//!
//! A claim holds or does not only where all cells that it compares have runs, and of estimations enough; else it cannot be told.

use super::found::{Found, find};
use crate::trial::plan::{Cross, Probes};
use crate::trial::summary::Throughput;
use report::experiment::{Case, Experiment};
use serde_json::json;
use stats::quantile;

/// Estimations of a cell that a claim about them needs.
const FEWEST: usize = 4;
/// Regular trains, and tools that estimate.
const REGULAR: [Probes; 3] = [Probes::Pk1, Probes::Pk2, Probes::Pk3];
const PATHLOADS: [Probes; 2] = [Probes::Pathload, Probes::PathloadFast];
/// T's time for half of pSLOW's estimations (section 5.2.1), in seconds.
const HALF_S: f64 = 30.7;
const FOR_EVER: f64 = f64::INFINITY;

/// What is claimed under one kind of traffic.
pub(super) struct Claims<'a> {
    cross: &'a Cross,
    found: &'a [Found],
}

/// A cell without riding and the same with it.
struct Pair<'a> {
    off: &'a Found,
    on: &'a Found,
}

impl Pair<'_> {
    /// A figure of both.
    fn both(&self, of: impl Fn(&Found) -> Option<f64>) -> Option<[f64; 2]> {
        Some([of(self.off)?, of(self.on)?])
    }
}

/// A claim: what T says, the rule, and both cells' figures for each tool that it is about.
struct Claim<'a> {
    name: String,
    expected: &'a str,
    unit: &'a str,
    probes: &'a [Probes],
}

impl<'a> Claims<'a> {
    pub(super) const fn new(cross: &'a Cross, found: &'a [Found]) -> Self {
        Self { cross, found }
    }

    /// Adds the answer and the cases.
    pub(super) fn add(&self, experiment: Experiment) -> Experiment {
        let cases = match self.cross {
            Cross::Web => self.web(),
            Cross::Steps(rates) if rates.len() > 1 => self.step(),
            _ => self.fixed(),
        };
        let count = |verdict| cases.iter().filter(|case| case.holds == verdict).count();
        let summary = format!(
            "{} of {} claims hold, {} do not, and {} cannot be told.",
            count(Some(true)),
            cases.len(),
            count(Some(false)),
            count(None)
        );
        cases
            .into_iter()
            .fold(experiment.summary(summary), Experiment::case)
    }

    fn step(&self) -> Vec<Case> {
        let mut cases = vec![
            self.overhead("figures 5.3, 5.5", Probes::Pk2, 0.25),
            self.overhead("figure 5.4", Probes::PathloadFast, 0.5),
        ];
        cases.extend(REGULAR.map(|probes| self.closer("figure 5.6", probes)));
        cases.push(self.alike("figure 5.7: with pathload the application fares the same"));
        cases.push(self.within_half_minute());
        cases.push(self.more_complete(
            "figure 5.8: pSLOW completes more often",
            Probes::Pathload,
            "48 % never, off",
        ));
        cases.push(self.fast_more_often());
        cases.extend(PATHLOADS.map(|probes| self.as_accurate("figure 5.9", probes)));
        cases.extend(PATHLOADS.map(|probes| self.too_high("figure 5.9", probes)));
        cases.push(self.unharmed("figure 5.5", 1.0));
        cases
    }

    fn fixed(&self) -> Vec<Case> {
        let mut cases = vec![self.overhead("figures 5.10, 5.11", Probes::Pk2, 0.25)];
        cases.push(self.sustained());
        cases.push(self.slowed());
        cases.extend(REGULAR.map(|probes| self.closer("figure 5.13", probes)));
        cases.push(self.alike("figure 5.14: with pathload the application fares the same"));
        cases.extend(PATHLOADS.map(|probes| self.same_times(probes)));
        cases.extend(PATHLOADS.map(|probes| {
            self.more_complete(
                "figure 5.15: fewer complete rounds off",
                probes,
                "no figures in the text",
            )
        }));
        cases.extend(PATHLOADS.map(|probes| self.as_accurate("figure 5.16", probes)));
        cases.push(self.unharmed("figure 5.11", 1.0));
        cases
    }

    fn web(&self) -> Vec<Case> {
        let mut cases = vec![self.unharmed("figure 5.17", 5.0), self.same_average()];
        cases.extend(REGULAR.map(|probes| self.closer("figure 5.18", probes)));
        cases.push(self.hurt());
        cases.push(self.less_severe());
        cases.extend(PATHLOADS.map(|probes| self.faster(probes)));
        cases.push(self.rates());
        cases.extend(PATHLOADS.map(|probes| {
            self.more_complete(
                "figure 5.21: completes more often",
                probes,
                "no figures in the text",
            )
        }));
        cases.extend(PATHLOADS.map(|probes| self.as_accurate("figure 5.21", probes)));
        cases.push(self.toward_the_end());
        cases.extend([
            self.fewer_riders_lost(),
            self.half_hurts_less(),
            self.half_is_faster(),
        ]);
        cases
    }

    fn pair(&self, probes: Probes) -> Option<Pair<'a>> {
        Some(Pair {
            off: find(self.found, probes, false, 1.0)?,
            on: find(self.found, probes, true, 1.0)?,
        })
    }

    /// The two figures of each tool of a claim; none unless all have both.
    fn figures(
        &self,
        probes: &[Probes],
        of: impl Fn(&Found) -> Option<f64>,
    ) -> Option<Vec<[f64; 2]>> {
        let figures = probes.iter().map(|probes| self.pair(*probes)?.both(&of));
        figures.collect()
    }

    /// A claim about pairs of figures, which holds when `holds` says so of them all.
    fn judge(
        &self,
        claim: &Claim<'_>,
        of: impl Fn(&Found) -> Option<f64>,
        holds: impl Fn(&[[f64; 2]]) -> bool,
    ) -> Case {
        let Some(figures) = self.figures(claim.probes, of) else {
            return Case::not_run(&claim.name, claim.expected);
        };
        let words = claim
            .probes
            .iter()
            .zip(&figures)
            .map(|(probes, [off, on])| format!("{} {off:.2} off, {on:.2} on", probes.name()));
        let words: Vec<_> = words.collect();
        let said = format!("{} {}", words.join("; "), claim.unit);
        let by_name = claim
            .probes
            .iter()
            .zip(&figures)
            .map(|(probes, [off, on])| (probes.name().to_owned(), json!({ "off": off, "on": on })));
        let by_name: serde_json::Map<_, _> = by_name.collect();
        let case = Case::new(&claim.name, said.trim(), claim.expected)
            .holds(holds(&figures))
            .figures(by_name.into());
        self.recorded(case, claim.probes)
    }

    fn recorded(&self, case: Case, probes: &[Probes]) -> Case {
        let on = probes
            .first()
            .and_then(|probes| find(self.found, *probes, true, 1.0));
        match on.and_then(|found| found.record.clone()) {
            Some(record) => case.record(record),
            None => case,
        }
    }

    fn overhead(&self, of: &str, probes: Probes, share: f64) -> Case {
        let expected = format!("nearly none; holds at up to {share} of what it is off");
        let claim = Claim {
            name: format!("{of}: riding takes away what {} adds", probes.name()),
            expected: &expected,
            unit: "Mbit/s of probes without riders",
            probes: &[probes],
        };
        let figure = through(|of| of.probe);
        self.judge(&claim, figure, |pairs| {
            pairs.iter().all(|[off, on]| *on <= share * off)
        })
    }

    fn closer(&self, of: &str, probes: Probes) -> Case {
        let claim = Claim {
            name: format!(
                "{of}: beside {} the application keeps closer to its rate",
                probes.name()
            ),
            expected: "closer to a vertical line; holds when the mean distance of a second from the rate is less on than off",
            unit: "Mbit/s away on average",
            probes: &[probes],
        };
        self.judge(&claim, Found::distance_mbps, |pairs| {
            pairs.iter().all(|[off, on]| on < off)
        })
    }

    fn alike(&self, name: &str) -> Case {
        let claim = Claim {
            name: name.to_owned(),
            expected: "essentially the same; holds when the mean distances differ by at most 5 % of the rate",
            unit: "Mbit/s away on average",
            probes: &PATHLOADS,
        };
        let source = self.found.iter().find_map(Found::source);
        let most = source.map_or(0.0, |source| 0.05 * source.target_mbps);
        self.judge(&claim, Found::distance_mbps, |pairs| {
            pairs.iter().all(|[off, on]| (on - off).abs() <= most)
        })
    }

    fn within_half_minute(&self) -> Case {
        let claim = Claim {
            name: "figure 5.8: pSLOW completes sooner".to_owned(),
            expected: "50 % within 30.7 s on, 26 % off; holds when more on than off",
            unit: "% within 30.7 s",
            probes: &[Probes::Pathload],
        };
        self.judge(
            &claim,
            |found| enough(found)?.completed_pct(HALF_S),
            |pairs| pairs.iter().all(|[off, on]| on > off),
        )
    }

    fn more_complete(&self, name: &str, probes: Probes, said: &str) -> Case {
        let expected =
            format!("more on ({said}); holds when a larger share is completed on than off");
        let claim = Claim {
            name: format!("{name} ({})", probes.name()),
            expected: &expected,
            unit: "% ever",
            probes: &[probes],
        };
        self.judge(
            &claim,
            |found| enough(found)?.completed_pct(FOR_EVER),
            |pairs| pairs.iter().all(|[off, on]| on > off),
        )
    }

    fn fast_more_often(&self) -> Case {
        let name = "figure 5.9: pFAST completes more often than pSLOW";
        let expected = "more often; holds when more are completed in a run, on";
        let count = |probes| {
            let found = find(self.found, probes, true, 1.0)?;
            let counts =
                found.mean(|summary| Some(summary.estimates.map_or(0.0, |of| of.completed as f64)));
            counts.filter(|_| enough(found).is_some())
        };
        let Some((slow, fast)) = count(Probes::Pathload).zip(count(Probes::PathloadFast)) else {
            return Case::not_run(name, expected);
        };
        Case::new(
            name,
            format!("{fast:.1} by pFAST, {slow:.1} by pSLOW in a run"),
            expected,
        )
        .holds(fast > slow)
        .figures(json!({ "fast": fast, "slow": slow }))
    }

    fn as_accurate(&self, of: &str, probes: Probes) -> Case {
        let claim = Claim {
            name: format!(
                "{of}: corrected for riders, {} is as accurate as without them",
                probes.name()
            ),
            expected: "as accurate; holds when the median error on is at most 10 points above that off",
            unit: "% of the truth",
            probes: &[probes],
        };
        let error = |found: &Found| completed(found)?.estimates()?.error_pct;
        self.judge(&claim, error, |pairs| {
            pairs.iter().all(|[off, on]| *on <= off + 10.0)
        })
    }

    fn too_high(&self, of: &str, probes: Probes) -> Case {
        let name = format!("{of}: not corrected, {} finds too much", probes.name());
        let expected = "too high unless adjusted; holds when the median is above the truth, and farther from it than the corrected one";
        let found = find(self.found, probes, true, 1.0).and_then(completed);
        let estimates = found.and_then(Found::estimates);
        let figures = estimates.and_then(|of| Some([of.bias_uncorrected_pct?, of.bias_pct?]));
        let Some([raw, corrected]) = figures else {
            return Case::not_run(name, expected);
        };
        let found = format!("{raw:+.0} % not corrected, {corrected:+.0} % corrected");
        let case = Case::new(name, found, expected)
            .holds(raw > 0.0 && raw > corrected.abs())
            .figures(json!({ "uncorrected_pct": raw, "corrected_pct": corrected }));
        self.recorded(case, &[probes])
    }

    fn unharmed(&self, of: &str, percent: f64) -> Case {
        let tools: Vec<Probes> = [&PATHLOADS[..], &REGULAR].concat();
        let run: Vec<Probes> = tools
            .into_iter()
            .filter(|probes| self.pair(*probes).is_some())
            .collect();
        let expected = format!(
            "no adverse effect; holds when it is not less than {percent} % below that off, with any tool"
        );
        let claim = Claim {
            name: format!("{of}: riding does others no harm"),
            expected: &expected,
            unit: "Mbit/s of others",
            probes: &run,
        };
        if run.is_empty() {
            return Case::not_run(&claim.name, claim.expected);
        }
        let figure = through(|of| of.cross);
        self.judge(&claim, figure, |pairs| {
            pairs
                .iter()
                .all(|[off, on]| *on >= off * (1.0 - percent / 100.0))
        })
    }

    fn sustained(&self) -> Case {
        let claim = Claim {
            name: "figure 5.12: with riding the application is sustained".to_owned(),
            expected: "sustained on, with more and more probes; holds when it reads 95 % of its rate or more with all three",
            unit: "Mbit/s read",
            probes: &REGULAR,
        };
        let least = self.target() * 0.95;
        self.judge(&claim, read, |pairs| {
            pairs.iter().all(|[_, on]| *on >= least)
        })
    }

    fn slowed(&self) -> Case {
        let claim = Claim {
            name: "figure 5.11: without it the application is slowed by more probes".to_owned(),
            expected: "slowed significantly as probing grows; holds when with each tool less is read than with the one before, and 5 % or more less than on with the last",
            unit: "Mbit/s read",
            probes: &REGULAR,
        };
        self.judge(&claim, read, |pairs| {
            let falls = pairs.windows(2).all(|two| two[1][0] < two[0][0]);
            falls && pairs.last().is_some_and(|[off, on]| *off <= 0.95 * on)
        })
    }

    fn same_times(&self, probes: Probes) -> Case {
        let claim = Claim {
            name: format!("figure 5.15: {} takes as long", probes.name()),
            expected: "similar; holds when the median times of completed ones differ by at most 25 %",
            unit: "s",
            probes: &[probes],
        };
        let time = |found: &Found| quantile(&completed(found)?.times_s(), 0.5);
        self.judge(&claim, time, |pairs| {
            pairs.iter().all(|[off, on]| (on / off - 1.0).abs() <= 0.25)
        })
    }

    fn same_average(&self) -> Case {
        let tools = [&PATHLOADS[..], &REGULAR].concat();
        let claim = Claim {
            name: "figure 5.17: the application reads the same on average".to_owned(),
            expected: "the same; holds when the means differ by at most 5 %",
            unit: "Mbit/s read",
            probes: &tools,
        };
        self.judge(&claim, read, |pairs| {
            pairs.iter().all(|[off, on]| (on / off - 1.0).abs() <= 0.05)
        })
    }

    fn hurt(&self) -> Case {
        let claim = Claim {
            name: "figure 5.19: with pFAST riding hurts the application".to_owned(),
            expected: "below its rate in over 40 % of the time on, 20 % off; holds when in more on than off",
            unit: "% of seconds below",
            probes: &[Probes::PathloadFast],
        };
        self.judge(&claim, below, |pairs| {
            pairs.iter().all(|[off, on]| on > off)
        })
    }

    fn less_severe(&self) -> Case {
        let claim = Claim {
            name: "figure 5.19: with pSLOW it hurts less".to_owned(),
            expected: "less severe, but still there; holds when riding adds seconds below the rate, and fewer than with pFAST",
            unit: "% of seconds below",
            probes: &PATHLOADS,
        };
        self.judge(&claim, below, |pairs| {
            let added: Vec<f64> = pairs.iter().map(|[off, on]| on - off).collect();
            added[0] > 0.0 && added[0] < added[1]
        })
    }

    fn faster(&self, probes: Probes) -> Case {
        let name = format!("figure 5.20: {} completes sooner", probes.name());
        let expected = "20-25 % sooner at each quartile (pFAST; pSLOW more); holds when by 10 % or more at each, of the completed ones";
        let quartiles = |found: &Found| {
            let times = completed(found)?.times_s();
            Some([
                quantile(&times, 0.25)?,
                quantile(&times, 0.5)?,
                quantile(&times, 0.75)?,
            ])
        };
        let pair = self
            .pair(probes)
            .and_then(|pair| Some([quartiles(pair.off)?, quartiles(pair.on)?]));
        let Some([off, on]) = pair else {
            return Case::not_run(name, expected);
        };
        let words = |[low, middle, high]: [f64; 3]| format!("{low:.1}, {middle:.1}, {high:.1} s");
        let found = format!("{} off; {} on", words(off), words(on));
        let case = Case::new(name, found, expected)
            .holds(on.iter().zip(off).all(|(on, off)| *on <= 0.9 * off))
            .figures(json!({ "off_s": off, "on_s": on }));
        self.recorded(case, &[probes])
    }

    fn rates(&self) -> Case {
        let claim = Claim {
            name: "section 5.2.3: pathload probes more".to_owned(),
            expected: "rates 20-25 % higher on; holds when both are 10 % or more higher",
            unit: "Mbit/s offered",
            probes: &PATHLOADS,
        };
        self.judge(&claim, Found::offered_mbps, |pairs| {
            pairs.iter().all(|[off, on]| *on >= 1.1 * off)
        })
    }

    fn toward_the_end(&self) -> Case {
        let name = "figure 5.22: losses come toward the end of trains";
        let expected = "toward the end; holds when the last three tenths lose a larger share than the first three (pFAST, on)";
        let Some(found) = find(self.found, Probes::PathloadFast, true, 1.0) else {
            return Case::not_run(name, expected);
        };
        let share = |from: usize, to: usize| {
            let tenths = found.tenths();
            let part = tenths.get(from..to)?;
            let sent: u64 = part.iter().map(|of| of.carrying + of.empty).sum();
            let lost: u64 = part.iter().map(|of| of.carrying_lost + of.empty_lost).sum();
            (sent > 0).then(|| lost as f64 * 100.0 / sent as f64)
        };
        let Some((head, tail)) = share(0, 3).zip(share(7, 10)) else {
            return Case::not_run(name, expected);
        };
        let case = Case::new(
            name,
            format!("{head:.2} % lost at the head, {tail:.2} % at the end"),
            expected,
        )
        .holds(tail > head)
        .figures(json!({ "head_pct": head, "tail_pct": tail }));
        self.recorded(case, &[Probes::PathloadFast])
    }

    /// What a ratio of a half does to a figure of pFAST's.
    fn half(
        &self,
        name: &str,
        expected: &str,
        unit: &str,
        of: impl Fn(&Found) -> Option<f64>,
    ) -> Case {
        let found = |ratio| find(self.found, Probes::PathloadFast, true, ratio).and_then(&of);
        let Some((whole, half)) = found(1.0).zip(found(0.5)) else {
            return Case::not_run(name, expected);
        };
        Case::new(
            name,
            format!("{whole:.1} at ratio 1, {half:.1} at 0.5 {unit}"),
            expected,
        )
        .holds(half < whole)
        .figures(json!({ "ratio_1": whole, "ratio_0_5": half }))
    }

    fn fewer_riders_lost(&self) -> Case {
        self.half(
            "figure 5.22: a ratio of 0.5 loses fewer riders",
            "fewer; holds when fewer are lost in a run (pFAST)",
            "lost in a run",
            |found| found.mean(|summary| Some(summary.riders_lost as f64)),
        )
    }

    fn half_hurts_less(&self) -> Case {
        self.half(
            "section 5.3: a ratio of 0.5 hurts the application less",
            "a minor additional impact; holds when fewer seconds are below the rate than at ratio 1 (pFAST)",
            "% of seconds below",
            below,
        )
    }

    fn half_is_faster(&self) -> Case {
        let name = "section 5.3: a ratio of 0.5 still makes pFAST faster";
        let expected = "measurement times improve significantly; holds when the median of completed ones is 10 % or more less than off";
        let time = |riding, ratio| {
            let found = find(self.found, Probes::PathloadFast, riding, ratio).and_then(completed);
            quantile(&found?.times_s(), 0.5)
        };
        let Some((off, half)) = time(false, 1.0).zip(time(true, 0.5)) else {
            return Case::not_run(name, expected);
        };
        Case::new(
            name,
            format!("{off:.1} s off, {half:.1} s at ratio 0.5"),
            expected,
        )
        .holds(half <= 0.9 * off)
        .figures(json!({ "off_s": off, "half_s": half }))
    }

    fn target(&self) -> f64 {
        let source = self.found.iter().find_map(Found::source);
        source.map_or(f64::INFINITY, |source| source.target_mbps)
    }
}

/// A rate on the bottleneck.
fn through(of: fn(&Throughput) -> f64) -> impl Fn(&Found) -> Option<f64> {
    move |found| found.mean(|summary| summary.throughput_mbps.as_ref().map(of))
}

fn read(found: &Found) -> Option<f64> {
    found.source().map(|source| source.mean_mbps)
}

fn below(found: &Found) -> Option<f64> {
    found.source().map(|source| source.below_pct)
}

/// A cell with enough estimations.
fn enough(found: &Found) -> Option<&Found> {
    (found.rows().len() >= FEWEST).then_some(found)
}

/// A cell with enough estimations that were completed.
fn completed(found: &Found) -> Option<&Found> {
    (found.times_s().len() >= FEWEST).then_some(found)
}

#[cfg(test)]
mod tests;
