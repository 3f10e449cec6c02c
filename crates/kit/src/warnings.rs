//! What the reader of any record should be warned of: the machines that took part. What a measurement has to say of its own
//! it adds itself.

use crate::ending::Ending;
use record::{Instrument, Lateness, Warning};
use schema::LinkTruth;
use schema::tables::Cpu;

/// A host whose processors were busier than this under load, on average, could not have driven the test any faster.
const SATURATED_PCT: f64 = 95.0;
/// A host that lost more than this to its hypervisor was not there when it should have been.
const STOLEN_PCT: f64 = 10.0;
/// A host that had to wait for its quota in this share of all periods could not do what it wanted when it wanted.
const THROTTLED_PCT: f64 = 10.0;
/// A host that is later than this at every tenth look has not the time to measure (its probes wait as long).
const HOST_LATE_MS: f64 = 20.0;
/// An emulator later than this (99th percentile) has measured itself.
const EMULATOR_LATE_MS: f64 = 10.0;
/// A hypervisor that takes more than this, or other programs that keep the processors busier, explain why an emulator is late.
const NOTABLE_STEAL_PCT: f64 = 2.0;
const NOTABLY_BUSY_PCT: f64 = 80.0;

/// Warnings, in their order.
#[derive(Default)]
pub struct List(pub Vec<Warning>);

impl List {
    /// One more.
    pub fn add(&mut self, code: &str, message: String, advice: &str) {
        self.0.push(Warning {
            code: code.to_owned(),
            message,
            advice: advice.to_owned(),
        });
    }

    /// A run that did not come to its end; what it has nevertheless, or has not, the `rest` says.
    pub fn ending(&mut self, ending: &Ending, rest: &str) {
        match ending {
            Ending::Complete => {}
            Ending::Interrupted => self.add(
                "interrupted",
                format!("the run was interrupted: {rest}"),
                "run it again to the end",
            ),
            Ending::Lost(reason) => self.add(
                "server_lost",
                format!("the server was lost ({reason}): {rest}"),
                "see whether the server still runs there, and run again",
            ),
            Ending::Broke(reason) => self.add(
                "client_failed",
                format!("{reason}: {rest}"),
                "see to that, and run again",
            ),
        }
    }

    /// Whether the instrument was up to it, by the same rules for every measurement: processors, quotas, lateness, and the links
    /// of a lab.
    pub fn instrument(&mut self, instrument: &Instrument, cpu: &[Cpu], links: &[LinkTruth]) {
        self.processors(instrument);
        self.lateness(instrument);
        self.throttled(cpu);
        self.emulator(instrument, links);
    }

    /// Hosts that were too busy, or were not given their time.
    fn processors(&mut self, instrument: &Instrument) {
        for cpu in &instrument.cpu {
            if cpu.mean_pct >= SATURATED_PCT {
                self.add(
                    "cpu_saturated",
                    format!(
                        "the {}'s processors were {:.0} % busy under load",
                        cpu.host, cpu.mean_pct
                    ),
                    "use a faster host or fewer streams: this run measured the host, not the path",
                );
            }
            if cpu.steal_pct >= STOLEN_PCT {
                self.add(
                    "cpu_stolen",
                    format!(
                        "the {}'s hypervisor took {:.0} % of its time",
                        cpu.host, cpu.steal_pct
                    ),
                    "use a host that is not shared: this run measured the host, not the path",
                );
            }
        }
    }

    /// A host whose quota of processor time is used up stands still until the next period, however short that is.
    fn throttled(&mut self, cpu: &[Cpu]) {
        for host in ["client", "server"] {
            let rows = cpu.iter().filter(|row| row.host == host);
            let shares: Vec<f64> = rows.filter_map(|row| row.throttled_pct).collect();
            let mean = shares.iter().sum::<f64>() / shares.len().max(1) as f64;
            if mean >= THROTTLED_PCT {
                self.add(
                    "cpu_throttled",
                    format!("the {host} had used up its quota of processor time in {mean:.0} % of all periods"),
                    "give it more, or measure with less load: this run measured the quota, not the path",
                );
            }
        }
    }

    /// A host that had not the processor time it needed woke up late, however idle its other processors were.
    fn lateness(&mut self, instrument: &Instrument) {
        let is_host =
            |late: &&Lateness| ["client", "server"].iter().any(|h| late.of.starts_with(h));
        for late in instrument.lateness.iter().filter(is_host) {
            if late.late_us.p90 >= HOST_LATE_MS * 1e3 {
                let host = late.of.split(' ').next().unwrap_or(&late.of);
                self.add(
                    "host_late",
                    format!(
                        "the {host} was {:.0} ms late (90th percentile): it did not get the processor time it needed",
                        late.late_us.p90 / 1e3
                    ),
                    "use a faster host, or one that does less: this run measured the host, not the path",
                );
            }
        }
    }

    /// An emulator that measured itself, or lost what it had carried.
    fn emulator(&mut self, instrument: &Instrument, links: &[LinkTruth]) {
        let late = links.iter().map(|link| link.emulator_late_p99_us / 1e3);
        let late = late.fold(0.0, f64::max);
        if late >= EMULATOR_LATE_MS {
            let (cause, advice) = why_late(instrument);
            self.add(
                "emulator_late",
                format!("the emulated links were {late:.0} ms late (99th percentile){cause}"),
                advice,
            );
        }
        let unwritten: u64 = links.iter().map(|link| link.unwritten).sum();
        if unwritten > 0 {
            self.add(
                "emulator_lost",
                format!("the emulator could not hand {unwritten} packets back to the kernel"),
                "they are missing from what was delivered; run again on a quieter machine",
            );
        }
    }
}

/// What kept this machine from emulating in time, as far as its processors tell, and what to do about it.
fn why_late(instrument: &Instrument) -> (String, &'static str) {
    let cpu = instrument.cpu.iter();
    let steal = cpu.clone().map(|cpu| cpu.steal_pct).fold(0.0, f64::max);
    let busy = cpu.map(|cpu| cpu.mean_pct).fold(0.0, f64::max);
    if steal >= NOTABLE_STEAL_PCT {
        (
            format!(": the hypervisor took {steal:.0} % of this machine's time"),
            "run again when its host is less busy, or use a machine that is not shared",
        )
    } else if busy >= NOTABLY_BUSY_PCT {
        (
            format!(": this machine's processors were {busy:.0} % busy"),
            "end other programs, or use a slower lab ('isobath lab calibrate' tells what this machine can emulate)",
        )
    } else {
        (
            String::new(),
            "'isobath lab calibrate' tells what this machine can emulate; use a slower lab",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::CpuUse;

    #[test]
    fn a_late_emulator_names_what_kept_it() {
        let cause = |mean_pct, steal_pct| {
            let cpu = CpuUse {
                host: "client".to_owned(),
                mean_pct,
                max_pct: 100.0,
                steal_pct,
            };
            let cpu = vec![cpu];
            why_late(&Instrument {
                cpu,
                ..Instrument::default()
            })
        };
        let (stolen, advice) = cause(95.0, 12.0);
        assert_eq!(stolen, ": the hypervisor took 12 % of this machine's time");
        assert!(advice.contains("not shared"), "{advice}");
        assert_eq!(
            cause(95.0, 1.0).0,
            ": this machine's processors were 95 % busy"
        );
        assert_eq!(cause(30.0, 0.1).0, "");
    }
}
