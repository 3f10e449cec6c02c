//! A call with a browser: datagrams at even intervals each way, as of a telephone (`rrul`'s calls).
//!
//! A sender keeps when it sent each, a receiver when each came; neither believes the other's times. What was not sent in its moment is
//! left out, since a burst is no call.

use kit::sampler::StreamEnd;
use rrul::streams::{Kind, StreamPlan};
use rrul::tables::{CallSample, Tables};
use std::collections::BTreeMap;
use std::time::Duration;
use units::Instant;

/// What one end knows of a call, in nanoseconds after the run's start by its own clock.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallEnd {
    /// When each was sent, by number; none: it was left out.
    pub(crate) sent: Vec<Option<u64>>,
    /// When each came.
    pub(crate) heard: BTreeMap<u32, u64>,
}

impl CallEnd {
    /// The number of the datagram that is to be sent at `now`, where one is: the latest whose moment has come.
    pub(crate) fn due(&self, origin: Instant, gap: Duration, now: Instant) -> Option<u32> {
        let latest = now.since(origin).as_nanos() / gap.as_nanos().max(1);
        let latest = u32::try_from(latest).ok()?;
        (latest as usize >= self.sent.len()).then_some(latest)
    }

    /// Number `seq` was sent.
    pub(crate) fn sends(&mut self, seq: u32, ns: u64) {
        // Those before it that were not are left out.
        self.sent.resize(seq as usize, None);
        self.sent.push(Some(ns));
    }

    /// What was sent and what was not, as a record has it.
    fn end(&self, id: u16) -> StreamEnd {
        let mut unsent: Vec<(u32, u32)> = Vec::new();
        for (seq, sent) in (0..).zip(&self.sent) {
            match unsent.last_mut() {
                _ if sent.is_some() => {}
                Some((_, end)) if *end == seq => *end += 1,
                _ => unsent.push((seq, seq + 1)),
            }
        }
        StreamEnd {
            id,
            sent: u32::try_from(self.sent.len()).ok(),
            unsent,
            ..StreamEnd::default()
        }
    }
}

/// Puts a call into the tables of a run whose streams are these: what the browser knows, and what the server knows.
pub(crate) fn enter(
    browser: &CallEnd,
    server: &CallEnd,
    streams: &[StreamPlan],
    tables: &mut Tables,
) {
    for stream in streams {
        let (end, from, to) = match stream.kind {
            Kind::CallUp => ("client", browser, server),
            Kind::CallDown => ("server", server, browser),
            _ => continue,
        };
        for (seq, came) in &to.heard {
            // What nobody sent did not come.
            let Some(Some(sent)) = from.sent.get(*seq as usize) else {
                continue;
            };
            tables.call(&CallSample {
                stream: stream.id,
                seq: *seq,
                t_ns: *sent,
                owd_ns: came.cast_signed().saturating_sub(sent.cast_signed()),
                kernel: false,
                tos: None,
            });
        }
        tables.opened(stream.id, 0);
        tables.ended(end, &from.end(stream.id));
    }
    tables.close_calls(true);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Carrier, plan, streams};

    #[test]
    fn what_was_left_out_is_neither_heard_nor_lost() {
        let (origin, gap) = (Instant::ZERO, Duration::from_millis(20));
        let mut browser = CallEnd::default();
        for at_ms in [0, 20, 85, 100] {
            let now = origin + Duration::from_millis(at_ms);
            let seq = browser.due(origin, gap, now).unwrap();
            browser.sends(seq, at_ms * 1_000_000);
            assert_eq!(browser.due(origin, gap, now), None);
        }
        assert_eq!(browser.sent.len(), 6);
        let end = browser.end(3);
        assert_eq!((end.sent, end.unsent), (Some(6), vec![(2, 4)]));

        // Of those sent one is lost; another is none that was sent, and one comes before it was sent by clocks that are apart.
        let mut server = CallEnd::default();
        server.heard.extend([
            (0, 5_000_000),
            (3, 1),
            (4, 80_000_000),
            (5, 130_000_000),
            (900, 1),
        ]);
        let plan = plan(Carrier::Datagrams);
        let streams = streams(&plan, 4);
        let mut tables = Tables::new(&streams, None);
        enter(&browser, &server, &streams, &mut tables);
        let of_call = |lost| {
            let samples = tables.samples.iter().filter(move |s| s.lost == lost);
            samples.map(|s| s.seq).collect::<Vec<_>>()
        };
        assert_eq!((of_call(false), of_call(true)), (vec![0, 4, 5], vec![1]));
        assert_eq!(tables.samples[1].owd_up_ns, Some(-5_000_000));
    }
}
