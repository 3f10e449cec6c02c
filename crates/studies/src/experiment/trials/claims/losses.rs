//! Claims about the place of losses in trains, and about riding on their first half only.

use super::{Claims, below, completed};
use crate::experiment::trials::found::{Found, find};
use crate::trial::plan::Probes;
use report::experiment::Case;
use serde_json::json;
use stats::quantile;

impl Claims<'_> {
    pub(super) fn toward_the_end(&self) -> Case {
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

    pub(super) fn fewer_riders_lost(&self) -> Case {
        self.half(
            "figure 5.22: a ratio of 0.5 loses fewer riders",
            "fewer; holds when fewer are lost in a run (pFAST)",
            "lost in a run",
            |found| found.mean(|summary| Some(summary.riders_lost as f64)),
        )
    }

    pub(super) fn half_hurts_less(&self) -> Case {
        self.half(
            "section 5.3: a ratio of 0.5 hurts the application less",
            "a minor additional impact; holds when fewer seconds are below the rate than at ratio 1 (pFAST)",
            "% of seconds below",
            below,
        )
    }

    pub(super) fn half_is_faster(&self) -> Case {
        let name = "section 5.3: a ratio of 0.5 still makes pFAST faster";
        let expected = "measurement times improve significantly; holds when the median of completed ones is 10 % or more less than off";
        let time = |riding, ratio| {
            let found = find(self.found, Probes::PathloadFast, riding, ratio).and_then(completed);
            quantile(&found?.times_s(), 0.5)
        };
        let Some((off, half)) = time(false, 1.0).zip(time(true, 0.5)) else {
            return self.untold(name, expected, &[Probes::PathloadFast]);
        };
        Case::new(
            name,
            format!("{off:.1} s off, {half:.1} s at ratio 0.5"),
            expected,
        )
        .holds(half <= 0.9 * off)
        .figures(json!({ "off_s": off, "half_s": half }))
    }
}
