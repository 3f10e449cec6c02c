//! Calls: what a listener would have heard.
//!
//! One-way delays have the far end's clock in them: its offset and skew are found from the round-trip probes, which cross the
//! same path both ways ([`probe::clock`]), and taken off before anything else. What jitters by more than 30 ms counts as lost
//! (RRUL, the component for calls); jitter counts from the least delay of the phase, as RFC 5481 has it. The rating is the E-model's (ITU-T G.107, [`probe::emodel`]).

use super::super::tables::CALL_LATE_NS;
use super::view::{View, is_udp_rr};
use probe::call::{Call, Datagram, Terms};
use probe::clock::{ClockLine, RoundTrip};
use probe::emodel::{self, Codec, MouthToEar, Rating};
use record::Distribution;
use schema::rrul::{CallFigures, Calls, Heard};
use schema::tables::{Sample, Stream};
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

/// What comes later than this after the least delay was not heard.
const LATE_AFTER: Duration = Duration::from_nanos(CALL_LATE_NS.unsigned_abs());

impl View<'_> {
    /// How the far end's clock runs, from the round trips of the first server's probes.
    pub(super) fn clock(&self) -> Option<ClockLine> {
        let first = |stream: &Stream| is_udp_rr(stream) && stream.server.unwrap_or_default() == 0;
        let delays: Vec<RoundTrip> = self
            .samples(&first)
            .filter_map(|sample| {
                Some(RoundTrip {
                    t_ns: sample.t_ns,
                    up_ns: sample.owd_up_ns?,
                    down_ns: sample.owd_down_ns?,
                })
            })
            .collect();
        ClockLine::fit(&delays)
    }

    pub(super) fn calls(&self, clock: Option<&ClockLine>) -> BTreeMap<String, Calls> {
        let mut calls: BTreeMap<String, Calls> = BTreeMap::new();
        let streams = self.tables.streams.iter().filter(|s| s.kind == "voip");
        for stream in streams {
            let of_class = calls.entry(stream.class.clone().into_owned()).or_default();
            let figures = self.call(stream, clock);
            let kept = if stream.direction == "up" {
                &mut of_class.up
            } else {
                &mut of_class.down
            };
            // Of several calls of one class the worst tells what to expect.
            if kept
                .mos
                .is_none_or(|mos| figures.mos.is_some_and(|other| other < mos))
            {
                *kept = figures;
            }
        }
        calls
    }

    fn call(&self, stream: &Stream, clock: Option<&ClockLine>) -> CallFigures {
        let mut samples: Vec<&Sample> = self.samples(&|s| s.id == stream.id).collect();
        samples.sort_by_key(|sample| sample.seq);
        let delay = |sample: &Sample| {
            let (t_ns, up, down) = (sample.t_ns, sample.owd_up_ns, sample.owd_down_ns);
            let Some(line) = clock else {
                return up.or(down);
            };
            up.map(|up| line.up(t_ns, up))
                .or_else(|| Some(line.down(t_ns, down?)))
        };
        let heard = |when: &Range<u64>| {
            let within = samples.iter().filter(|s| when.contains(&s.t_ns));
            let datagrams: Vec<Datagram> = within
                .map(|sample| Datagram {
                    seq: sample.seq,
                    sent_ns: sample.t_ns,
                    delay_ns: delay(sample),
                })
                .collect();
            self.heard(stream, &datagrams)
        };
        let (idle, loaded) = (heard(&self.idle), heard(&self.loaded));
        let shown = loaded.as_ref().or(idle.as_ref());
        CallFigures {
            mos: shown.and_then(|heard| heard.mos),
            jitter_ms: shown.and_then(|heard| heard.jitter_ms),
            loss_pct: shown.map(|heard| heard.loss_pct),
            late_pct: shown.map(|heard| heard.late_pct),
            idle,
            loaded,
        }
    }

    /// What was heard of these datagrams; nothing of none.
    fn heard(&self, stream: &Stream, datagrams: &[Datagram]) -> Option<Heard> {
        let mut calls = self.plan.call.iter();
        let planned = calls.find(|call| call.class.to_string() == stream.class);
        let every = planned.map_or(Duration::ZERO, |call| call.every.0);
        let call = Call::of(
            datagrams,
            &Terms {
                interval: every,
                late_after: LATE_AFTER,
                least_ns: None,
            },
        )?;
        let delays = datagrams.iter().filter_map(|datagram| datagram.delay_ns);
        let delay_ms = Distribution::of(delays.map(|ns| ns as f64 / 1e6));
        let variation_ms = Distribution::of(call.pdv_ns.iter().map(|ns| *ns as f64 / 1e6));
        let rating = rating(&call, every).map(|rating| (rating.r, rating.mos));
        // Of a call of which nothing arrives nothing is left.
        let rating = rating.or_else(|| (call.lost == call.sent).then_some((0.0, 1.0)));
        Some(Heard {
            sent: call.sent,
            mos: rating.map(|(_, mos)| mos),
            r: rating.map(|(r, _)| r),
            delay_ms,
            jitter_ms: variation_ms.map(|d| d.p99),
            variation_ms,
            ipdv_ms: call.mean_ipdv_ns.map(|ns| ns / 1e6),
            loss_pct: call.loss_pct,
            late_pct: call.late_pct,
            longest_loss_run: call.effective_runs.longest,
            burst_ratio: call.effective_runs.burst_ratio,
            reordered: call.reordered,
        })
    }
}

/// The E-model's rating of a call of G.711 with concealment of losses, behind a jitter buffer that has found the least delay
/// of the phase and waits 30 ms from there.
fn rating(call: &Call, every: Duration) -> Option<Rating> {
    let network_ms = call.least_ns? as f64 / 1e6;
    let delay = MouthToEar::of(network_ms.max(0.0), every.as_secs_f64() * 1e3);
    // Without a loss there are no bursts.
    let bursts = call.effective_runs.burst_ratio.unwrap_or(1.0);
    emodel::rate_call(Codec::G711_PLC, delay, call.effective_loss_pct, bursts)
}
