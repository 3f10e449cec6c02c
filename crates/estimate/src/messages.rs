//! What the two ends of an `estimate` run say to each other, one JSON line each.
//!
//! ```text
//! near: estimate   when on the far end's clock the run began, and the plan
//!   ...   the near end sends requests by UDP until the far end has seen its address
//! far:  ready      or refused, with the reason
//! for each train, which goes up:           or down:
//!   ...   the train ...                      near: send      a train
//!   near: collect    so many were sent       ...   the train ...
//!   far:  arrivals ...                       far:  sent      how it left
//!   far:  collected
//! near: finish
//! far:  done       what it has to say of itself
//! ```

use super::plan::Plan;
use kit::datagrams::Quality;
use probe::train::{Probe, Train};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Arrivals in one line: far below the longest line.
pub const ARRIVALS_PER_LINE: usize = 500;
/// The most probes of a train, and the longest that one may last: with them, what a far end keeps and sends is bounded.
pub const MOST_PROBES: usize = 10_000;
/// The longest that a train may last, from its first probe to its last.
pub const LONGEST_TRAIN: Duration = Duration::from_secs(10);

/// A run begins.
#[derive(Debug, Deserialize, Serialize)]
pub struct Setup {
    /// The run's start, on the far end's monotonic clock.
    pub origin_ns: u64,
    /// What the run is to do.
    pub plan: Plan,
}

/// What the near end says then.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Near {
    /// A train is over.
    Collect(Extent),
    /// So is the run.
    Finish,
    /// The far end is to send a train.
    Send(Order),
}

/// Which probes a train had, by their numbers in the run.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Extent {
    /// Number of the first of them, counted over all trains of the run.
    pub first: u64,
    /// How many probes it had, whether they arrived or not.
    pub count: u32,
}

/// A train to be sent, its first probe as number `first` of the run.
#[derive(Debug, Deserialize, Serialize)]
pub struct Order {
    /// Number of its first probe, counted over all trains of the run.
    pub first: u64,
    /// The probes in the order in which they leave.
    pub parts: Vec<Part>,
}

/// Probes that are alike, one after the other.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Part {
    /// How many there are.
    pub count: u32,
    /// Octets of each packet, IP header included.
    pub octets: u32,
    /// Before each of them.
    pub gap_ns: u64,
}

/// What the far end says.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Far {
    /// Probes of the train that is collected.
    Arrivals(Vec<Arrived>),
    /// There are no more.
    Collected,
    /// Of itself.
    Done(Box<Done>),
    /// It is ready.
    Ready,
    /// It will not.
    Refused(String),
    /// A train has left.
    Sent(Sent),
}

/// An arrival: its number in the run, when it left and when it arrived, in nanoseconds, each on its end's clock.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Arrived(pub u64, pub u64, pub u64);

/// How a train left.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub struct Sent {
    /// Probes that left.
    pub count: u32,
    /// From its first probe to its last.
    pub lasted_ns: u64,
    /// By how much a gap was wrong at most.
    pub worst_ns: u64,
}

/// What the far end has to say of itself.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Done {
    /// Processor time that its process took for the run.
    pub process_cpu_s: f64,
    /// Of the socket that sends and receives trains there.
    pub quality: Quality,
    /// |actual - planned gap| of all probes that it sent, in nanoseconds.
    pub gap_error_ns: Option<record::Distribution>,
}

/// A train as the line has it: equal neighbours once.
pub fn parts(train: &Train) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for probe in &train.probes {
        let gap_ns = u64::try_from(probe.gap.as_nanos()).unwrap_or(u64::MAX);
        match parts.last_mut() {
            Some(part) if (part.octets, part.gap_ns) == (probe.octets, gap_ns) => part.count += 1,
            _ => parts.push(Part {
                count: 1,
                octets: probe.octets,
                gap_ns,
            }),
        }
    }
    parts
}

/// The train that an order asks for.
///
/// # Errors
/// One line for whoever gave it.
pub fn train(parts: &[Part]) -> Result<Train, String> {
    let count = parts.iter().map(|part| u64::from(part.count)).sum::<u64>();
    if count == 0 || count > MOST_PROBES as u64 {
        return Err(format!(
            "a train has 1 to {MOST_PROBES} probes, not {count}"
        ));
    }
    let mut train = Train::default();
    for part in parts {
        let probe = Probe {
            octets: part.octets,
            gap: Duration::from_nanos(part.gap_ns),
            may_carry: true,
        };
        train
            .probes
            .extend(std::iter::repeat_n(probe, part.count as usize));
    }
    check(&train)?;
    Ok(train)
}

/// What is wrong with a train, if anything.
///
/// # Errors
/// One line for whoever wants it.
pub fn check(train: &Train) -> Result<(), String> {
    if train.probes.len() > MOST_PROBES {
        return Err(format!("a train has at most {MOST_PROBES} probes"));
    }
    if train.duration() > LONGEST_TRAIN {
        let longest = LONGEST_TRAIN.as_secs();
        return Err(format!("a train lasts at most {longest} s"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_order_for_too_much_is_refused() {
        let part = |count, gap_ns| Part {
            count,
            octets: 100,
            gap_ns,
        };
        assert!(train(&[]).is_err());
        assert!(train(&[part(10_001, 0)]).is_err());
        assert!(train(&[part(u32::MAX, 0), part(u32::MAX, 0)]).is_err());
        assert!(train(&[part(2, 10_000_000_001)]).is_err());
        assert!(train(&[part(3, u64::MAX)]).is_err());
        assert!(train(&[part(2, 10_000_000_000)]).is_ok());
    }

    proptest! {
        #[test]
        fn a_train_survives_the_line(probes in prop::collection::vec((56_u32..1_500, 0_u64..3), 1..50)) {
            let probes = probes.into_iter().map(|(octets, gap)| Probe {
                octets: octets / 700 * 700,
                gap: Duration::from_nanos(gap),
                may_carry: true,
            });
            let wanted = Train { probes: probes.collect(), ..Train::default() };
            prop_assert_eq!(train(&parts(&wanted)), Ok(wanted));
        }
    }
}
