//! Claims about estimations: how long they take, how many come to an end, and how right they are.

use super::{Claim, Claims, PATHLOADS, completed, enough};
use crate::experiment::trials::found::{Found, find};
use crate::trial::plan::Probes;
use crate::trial::summary::Estimates;
use report::experiment::Case;
use serde_json::json;
use stats::quantile;

/// T's time for half of pSLOW's estimations (section 5.2.1), in seconds.
const HALF_S: f64 = 30.7;
const FOR_EVER: f64 = f64::INFINITY;

/// An error of estimations, in per cent of the truth.
type Error = fn(&Estimates) -> Option<f64>;

impl Claims<'_> {
    pub(super) fn within_half_minute(&self) -> Case {
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

    pub(super) fn more_complete(&self, name: &str, probes: Probes, said: &str) -> Case {
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

    pub(super) fn fast_more_often(&self) -> Case {
        let name = "figure 5.9: pFAST completes more often than pSLOW";
        let expected = "more often; holds when more are completed in a run, on";
        let count = |probes| {
            let found = find(self.found, probes, true, 1.0)?;
            let counts =
                found.mean(|summary| Some(summary.estimates.map_or(0.0, |of| of.completed as f64)));
            counts.filter(|_| enough(found).is_some())
        };
        let Some((slow, fast)) = count(Probes::Pathload).zip(count(Probes::PathloadFast)) else {
            return self.untold(name, expected, &PATHLOADS);
        };
        Case::new(
            name,
            format!("{fast:.1} by pFAST, {slow:.1} by pSLOW in a run"),
            expected,
        )
        .holds(fast > slow)
        .figures(json!({ "fast": fast, "slow": slow }))
    }

    /// Both tools, by T's rule and by what trains were spared.
    pub(super) fn as_accurate(&self, of: &str) -> Vec<Case> {
        let rules: [(&str, Error); 2] = [
            ("by the riders of its last stream", |of| of.error_stream_pct),
            ("by what its trains were spared", |of| of.error_pct),
        ];
        let cases = PATHLOADS.map(|probes| {
            rules.map(|(how, error)| {
                let name = format!("{of}: {}, corrected {how}, is as accurate", probes.name());
                self.not_worse(name, probes, error)
            })
        });
        cases.concat()
    }

    fn not_worse(&self, name: String, probes: Probes, error: Error) -> Case {
        let claim = Claim {
            name,
            expected: "as accurate as without riders; holds when the median error on is at most 10 points above that off",
            unit: "% of the truth",
            probes: &[probes],
        };
        let error = |found: &Found| error(&completed(found)?.estimates()?);
        self.judge(&claim, error, |pairs| {
            pairs.iter().all(|[off, on]| *on <= off + 10.0)
        })
    }

    pub(super) fn too_high(&self, of: &str, probes: Probes) -> Case {
        let name = format!("{of}: not corrected, {} finds too much", probes.name());
        let expected = "too high unless adjusted; holds when the median is above the truth, and farther from it than the corrected one";
        let found = find(self.found, probes, true, 1.0).and_then(completed);
        let estimates = found.and_then(Found::estimates);
        let figures = estimates.and_then(|of| Some([of.bias_uncorrected_pct?, of.bias_pct?]));
        let Some([raw, corrected]) = figures else {
            return self.untold(&name, expected, &[probes]);
        };
        let found = format!("{raw:+.0} % not corrected, {corrected:+.0} % corrected");
        let case = Case::new(name, found, expected)
            .holds(raw > 0.0 && raw > corrected.abs())
            .figures(json!({ "uncorrected_pct": raw, "corrected_pct": corrected }));
        self.recorded(case, &[probes])
    }

    pub(super) fn same_times(&self, probes: Probes) -> Case {
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

    pub(super) fn faster(&self, probes: Probes) -> Case {
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
            return self.untold(&name, expected, &[probes]);
        };
        let words = |[low, middle, high]: [f64; 3]| format!("{low:.1}, {middle:.1}, {high:.1} s");
        let found = format!("{} off; {} on", words(off), words(on));
        let case = Case::new(name, found, expected)
            .holds(on.iter().zip(off).all(|(on, off)| *on <= 0.9 * off))
            .figures(json!({ "off_s": off, "on_s": on }));
        self.recorded(case, &[probes])
    }

    pub(super) fn rates(&self) -> Case {
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
}
