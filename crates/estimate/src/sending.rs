//! Sends trains with their gaps, and audits how well they were kept.

use super::messages::Sent;
use kit::datagrams::Link;
use packet::UDP_HEADERS;
use probe::train::{Probe, Train};
use std::time::Duration;
use sys::pacer::{GapAudit, Pacer};
use sys::udp::BATCH;
use sys::{Error, clock, priority};
use units::Instant;

/// A gap that is wrong by more than this is late.
const TOLERANCE: Duration = Duration::from_micros(5);

/// A sender of trains at one end.
pub(crate) struct Sender {
    pacer: Pacer,
    audit: GapAudit,
    /// Octets of the headers below UDP's payload.
    headers: u32,
}

impl Sender {
    /// For packets of this version of IP, from this thread.
    ///
    /// # Errors
    /// When the thread's timers cannot be made exact.
    pub(crate) fn new(v6: bool) -> Result<Self, Error> {
        Ok(Self {
            pacer: Pacer::calibrate()?,
            audit: GapAudit::new(TOLERANCE),
            headers: UDP_HEADERS[usize::from(v6)],
        })
    }

    /// Sends `train` over `link`, its first probe as number `first`.
    ///
    /// # Errors
    /// When a probe cannot be sent at all: too long, no route.
    pub(crate) fn send(
        &mut self,
        link: &mut Link,
        first: u64,
        train: &Train,
    ) -> Result<Sent, Error> {
        let _urgent = Urgent::during(train);
        let mut planned = clock::now() + self.pacer.margin() * 2;
        let (mut began, mut last) = (None, None::<Instant>);
        let (mut sent, mut worst) = (0_u32, Duration::ZERO);
        for group in groups(train, self.headers) {
            planned += group.gap;
            self.pacer.wait_until(planned);
            let left = link.send_probes(first + u64::from(sent), &group.lengths)?;
            self.audit.record(planned, left);
            if let Some(last) = last.replace(left) {
                worst = worst.max(left.since(last).abs_diff(group.gap));
            }
            began = began.or(Some(left));
            sent += u32::try_from(group.lengths.len()).unwrap_or(u32::MAX);
        }
        let lasted = began.zip(last).map(|(began, last)| last.since(began));
        Ok(Sent {
            count: sent,
            lasted_ns: nanos(lasted.unwrap_or_default()),
            worst_ns: nanos(worst),
        })
    }

    /// |actual - planned gap| of all that was sent, in nanoseconds.
    pub(crate) fn gap_errors(&self) -> Option<record::Distribution> {
        self.audit.errors()
    }
}

/// While it exists this thread waits for no ordinary one, where it may have that: what is held up on a busy host leaves too
/// fast afterwards.
struct Urgent(bool);

impl Urgent {
    /// A train that lasts longer than this could stop everything else; and with one processor there is somebody to carry it.
    const LONGEST: Duration = Duration::from_millis(500);

    fn during(train: &Train) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let harmless = train.duration() <= Self::LONGEST && processors > 1;
        Self(harmless && priority::set_realtime(true).is_ok())
    }
}

impl Drop for Urgent {
    fn drop(&mut self) {
        if self.0 {
            // What was allowed one way is allowed back.
            let _ = priority::set_realtime(false);
        }
    }
}

/// Probes that leave together, with one system call.
#[derive(Debug, Eq, PartialEq)]
struct Group {
    /// Before the first of them; of the first group none.
    gap: Duration,
    /// Octets of UDP payload.
    lengths: Vec<usize>,
}

/// The probes of a train, those without gaps together.
fn groups(train: &Train, headers: u32) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for probe in &train.probes {
        let length = payload(probe, headers);
        match groups.last_mut() {
            Some(group) if probe.gap.is_zero() && group.lengths.len() < BATCH => {
                group.lengths.push(length);
            }
            last => {
                let gap = last.map_or(Duration::ZERO, |_| probe.gap);
                groups.push(Group {
                    gap,
                    lengths: vec![length],
                });
            }
        }
    }
    groups
}

/// Octets of UDP payload of a probe.
fn payload(probe: &Probe, headers: u32) -> usize {
    probe.octets.saturating_sub(headers) as usize
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_without_gaps_leave_together() {
        let probe = |octets, gap_us| Probe {
            octets,
            gap: Duration::from_micros(gap_us),
            may_carry: true,
        };
        let train = Train {
            probes: vec![probe(128, 7), probe(228, 0), probe(128, 10), probe(20, 0)],
            ..Train::default()
        };
        let group = |gap_us, lengths: &[usize]| Group {
            gap: Duration::from_micros(gap_us),
            lengths: lengths.to_vec(),
        };
        assert_eq!(
            groups(&train, 28),
            [group(0, &[100, 200]), group(10, &[100, 0])]
        );
        let long = Train::periodic(BATCH + 1, 128, Duration::ZERO);
        let lengths = groups(&long, 28)
            .iter()
            .map(|g| g.lengths.len())
            .collect::<Vec<_>>();
        assert_eq!(lengths, [BATCH, 1]);
    }
}
