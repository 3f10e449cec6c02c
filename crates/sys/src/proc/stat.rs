//! `/proc/stat`: how the processors have spent their time (`proc(5)`).
//!
//! ```text
//! cpu  user nice system idle iowait irq softirq steal guest guest_nice    (all processors)
//! cpu0 ...                                                                (one of them)
//! ```
//!
//! Figures are ticks since the machine started. Guest time is contained in user time; waiting for a
//! disk is idleness as far as a network is concerned; *steal* is time that the hypervisor gave to
//! someone else, in which this machine stood still.

use crate::Error;
use std::collections::BTreeMap;
use std::fs;

const STAT: &str = "/proc/stat";

/// A reading of the machine's processor times.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct CpuSample {
    total: Ticks,
    each: BTreeMap<u32, Ticks>,
}

/// How the processors spent the time between two readings. Percentages of the time that passed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuUse {
    /// Working, mean over the processors.
    pub busy_pct: f64,
    /// Stolen by the hypervisor, mean over the processors.
    pub steal_pct: f64,
    /// Working or stolen, on the processor that had most of it: what was not available to one more
    /// thread there.
    pub max_pct: f64,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Ticks {
    busy: u64,
    idle: u64,
    steal: u64,
}

impl CpuSample {
    /// The processor times now.
    ///
    /// # Errors
    /// When `/proc` is missing or of an unknown form.
    pub fn now() -> Result<Self, Error> {
        let text = fs::read_to_string(STAT)
            .map_err(|e| Error::io("read", STAT, e).advise("mount /proc"))?;
        Self::parse(&text).ok_or(Error::Format {
            object: STAT,
            problem: "no line of processor times in a known form",
        })
    }

    /// How the time since `earlier` was spent; all zero when no tick has passed.
    pub fn since(&self, earlier: &Self) -> CpuUse {
        let total = self.total.since(earlier.total);
        let taken = |(cpu, ticks): (&u32, &Ticks)| {
            let spent = ticks.since(*earlier.each.get(cpu)?);
            Some(spent.percent(spent.busy + spent.steal))
        };
        CpuUse {
            busy_pct: total.percent(total.busy),
            steal_pct: total.percent(total.steal),
            max_pct: self.each.iter().filter_map(taken).fold(0.0, f64::max),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut sample = Self::default();
        let mut lines = text.lines();
        sample.total = Ticks::parse(lines.next()?.strip_prefix("cpu ")?)?;
        for line in lines.map_while(|line| line.strip_prefix("cpu")) {
            let (cpu, ticks) = line.split_once(' ')?;
            sample.each.insert(cpu.parse().ok()?, Ticks::parse(ticks)?);
        }
        Some(sample)
    }
}

impl Ticks {
    /// Reads the figures of one line. Kernels before 2.6.11 had no steal time.
    fn parse(figures: &str) -> Option<Self> {
        let figures: Result<Vec<u64>, _> = figures.split_whitespace().map(str::parse).collect();
        let figures = figures.ok()?;
        let &[
            user,
            nice,
            system,
            idle,
            iowait,
            irq,
            softirq,
            ref rest @ ..,
        ] = figures.as_slice()
        else {
            return None;
        };
        let sum = |parts: &[u64]| {
            parts
                .iter()
                .fold(0, |sum: u64, part| sum.saturating_add(*part))
        };
        Some(Self {
            busy: sum(&[user, nice, system, irq, softirq]),
            idle: sum(&[idle, iowait]),
            steal: rest.first().copied().unwrap_or(0),
        })
    }

    /// Each figure on its own: the kernel lets idle time go back a little now and then.
    fn since(self, earlier: Self) -> Self {
        Self {
            busy: self.busy.saturating_sub(earlier.busy),
            idle: self.idle.saturating_sub(earlier.idle),
            steal: self.steal.saturating_sub(earlier.steal),
        }
    }

    fn percent(self, part: u64) -> f64 {
        let whole = self
            .busy
            .saturating_add(self.idle)
            .saturating_add(self.steal);
        100.0 * part as f64 / whole.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BEFORE: &str = "\
cpu  100 0 100 1000 0 0 0 0 0 0
cpu0 50 0 50 500 0 0 0 0 0 0
cpu1 50 0 50 500 0 0 0 0 0 0
intr 123456 7 8
ctxt 99
";
    /// 200 ticks later on each of two processors: the first worked 150 and lost 10, the second
    /// worked 30 (10 of them as a guest, which is part of user time) and waited 20 for a disk.
    const AFTER: &str = "\
cpu  200 10 130 1190 20 10 30 10 10 0
cpu0 130 10 70 540 0 10 30 10 0 0
cpu1 70 0 60 650 20 0 0 0 10 0
intr 123499 7 8
";

    fn sample(text: &str) -> CpuSample {
        CpuSample::parse(text).unwrap()
    }

    #[test]
    fn two_readings_tell_how_the_time_between_was_spent() {
        let spent = sample(AFTER).since(&sample(BEFORE));
        let expected = CpuUse {
            busy_pct: 100.0 * 180.0 / 400.0,
            steal_pct: 100.0 * 10.0 / 400.0,
            max_pct: 100.0 * 160.0 / 200.0,
        };
        assert_eq!(spent, expected);
    }

    #[test]
    fn no_time_between_readings_is_no_use() {
        assert_eq!(sample(AFTER).since(&sample(AFTER)), CpuUse::default());
        assert_eq!(sample(BEFORE).since(&sample(AFTER)), CpuUse::default());
    }

    #[test]
    fn a_processor_that_came_or_went_is_left_out() {
        let without = sample(&BEFORE.replace("cpu1 50", "cpu7 50"));
        let spent = sample(AFTER).since(&without);
        assert!((spent.max_pct - 80.0).abs() < 1e-9);
    }

    #[test]
    fn an_old_kernel_without_steal_is_read() {
        let old = sample("cpu  1 2 3 4 5 6 7\n");
        assert_eq!(
            old.total,
            Ticks {
                busy: 19,
                idle: 9,
                steal: 0
            }
        );
    }

    #[test]
    fn what_is_no_stat_is_refused() {
        for text in [
            "",
            "cpu",
            "cpu  1 2 3\n",
            "cpu  1 2 3 4 5 6 x\n",
            "intr 1\n",
            "cpu  1 2 3 4 5 6 7\ncpux 1 2\n",
        ] {
            assert_eq!(CpuSample::parse(text), None, "{text}");
        }
    }

    #[test]
    fn this_machine_is_read() {
        let first = CpuSample::now().unwrap();
        assert!(!first.each.is_empty());
        let spent = CpuSample::now().unwrap().since(&first);
        assert!((0.0..=100.0).contains(&spent.busy_pct));
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in "(cpu[0-9 ]{0,40}\n?){0,4}") {
            if let Some(sample) = CpuSample::parse(&text) {
                let spent = sample.since(&CpuSample::default());
                prop_assert!(spent.busy_pct <= 100.0);
            }
        }
    }
}
