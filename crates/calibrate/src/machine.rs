//! What else the machine does: figures taken on a busy one are those of the neighbours too.
//!
//! The machine is looked at before anything begins, when all that it does it does without us; and from then on,
//! less our own processor time.

use super::percent;
use record::{CpuUse, Instrument, Warning};
use std::time::Duration;
use sys::{Error, clock, proc};
use units::Instant;

/// Key of the share of the processors' time that was taken before the calibration began.
pub(super) const BEFORE: &str = "busy_before_pct";
/// Key of the share that others took while it went.
pub(super) const OTHERS: &str = "busy_others_pct";

/// How long the machine is looked at before anything begins.
const LOOK: Duration = Duration::from_millis(500);
/// A machine busier than this by itself leaves too little of its processors for steady figures.
const BUSY_PCT: f64 = 10.0;
/// A hypervisor that takes more than this shows in every tail.
const STOLEN_PCT: f64 = 2.0;

/// The state of the machine.
#[derive(Debug)]
pub struct Machine {
    before: proc::CpuUse,
    start: proc::CpuSample,
    own: proc::OwnCpu,
    at: Instant,
}

impl Machine {
    /// Looks at the machine for half a second; what it does now, it does without us.
    ///
    /// # Errors
    /// When `/proc` cannot be read.
    pub fn look() -> Result<Self, Error> {
        let first = proc::CpuSample::now()?;
        clock::sleep_until(clock::now() + LOOK);
        let start = proc::CpuSample::now()?;
        Ok(Self {
            before: start.since(&first),
            start,
            own: proc::OwnCpu::now()?,
            at: clock::now(),
        })
    }

    /// How the time since [`Machine::look`] was spent, as a record tells it.
    ///
    /// # Errors
    /// When `/proc` cannot be read.
    pub fn instrument(&self) -> Result<Instrument, Error> {
        let during = proc::CpuSample::now()?.since(&self.start);
        let processors = proc::Host::this().cpus as f64;
        let own = proc::OwnCpu::now()?.since(&self.own).total();
        let own = percent(own, clock::now().since(self.at)) / processors;
        let mut instrument = Instrument {
            cpu: vec![CpuUse {
                host: "client".to_owned(),
                mean_pct: during.busy_pct,
                max_pct: during.max_pct,
                steal_pct: during.steal_pct,
            }],
            ..Instrument::default()
        };
        let before = self.before.busy_pct + self.before.steal_pct;
        let others = (during.busy_pct - own).max(0.0);
        for (key, value) in [(BEFORE, before), (OTHERS, others)] {
            instrument.more.insert(key.to_owned(), value.into());
        }
        Ok(instrument)
    }
}

/// What the reader should know of the machine's state.
pub fn warnings(instrument: &Instrument) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |code: &str, message: String| {
        warnings.push(Warning {
            code: code.to_owned(),
            message,
            advice:
                "the figures are worse than the machine can do: calibrate again when it is idle"
                    .to_owned(),
        });
    };
    let share = |key: &str| instrument.more.get(key).and_then(serde_json::Value::as_f64);
    let busy = [
        (BEFORE, "before the calibration began"),
        (OTHERS, "with other things meanwhile"),
    ];
    for (key, when) in busy {
        if let Some(busy) = share(key).filter(|busy| *busy >= BUSY_PCT) {
            warn(
                "machine_busy",
                format!("the machine was {busy:.0} % busy {when}"),
            );
        }
    }
    for cpu in &instrument.cpu {
        if cpu.steal_pct >= STOLEN_PCT {
            let message = format!("the hypervisor took {:.0} % of its time", cpu.steal_pct);
            warn("cpu_stolen", message);
        }
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(before: f64, others: f64, steal: f64) -> Vec<String> {
        let mut instrument = Instrument {
            cpu: vec![CpuUse {
                steal_pct: steal,
                ..CpuUse::default()
            }],
            ..Instrument::default()
        };
        for (key, value) in [(BEFORE, before), (OTHERS, others)] {
            instrument.more.insert(key.to_owned(), value.into());
        }
        let warnings = warnings(&instrument);
        warnings.into_iter().map(|warning| warning.code).collect()
    }

    #[test]
    fn a_quiet_machine_brings_no_warning_and_a_busy_or_robbed_one_does() {
        assert!(codes(3.0, 4.0, 0.5).is_empty());
        assert_eq!(codes(60.0, 4.0, 0.0), ["machine_busy"]);
        assert_eq!(codes(3.0, 60.0, 9.0), ["machine_busy", "cpu_stolen"]);
    }
}
