//! Claims about what the bottleneck carried and what the application read.

use super::{Claim, Claims, PATHLOADS, REGULAR, below, read, through};
use crate::experiment::trials::found::Found;
use crate::trial::plan::Probes;
use report::experiment::Case;

impl Claims<'_> {
    pub(super) fn overhead(&self, of: &str, probes: Probes, share: f64) -> Case {
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

    pub(super) fn closer(&self, of: &str, probes: Probes) -> Case {
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

    pub(super) fn alike(&self, name: &str) -> Case {
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

    pub(super) fn unharmed(&self, of: &str, percent: f64) -> Case {
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

    pub(super) fn sustained(&self) -> Case {
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

    pub(super) fn slowed(&self) -> Case {
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

    pub(super) fn same_average(&self) -> Case {
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

    pub(super) fn hurt(&self) -> Case {
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

    pub(super) fn less_severe(&self) -> Case {
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
}
