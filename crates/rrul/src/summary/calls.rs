//! Calls: what a listener would have heard.
//!
//! One-way delays have the far end's clock in them: its offset and skew are found from the round-trip probes, which cross the
//! same path both ways ([`probe::clock`]), and taken off before anything else. What jitters by more than 30 ms counts as lost
//! (RRUL, the component for calls); jitter counts from the least delay of the phase, as RFC 5481 has it. The rating is the E-model's (ITU-T G.107, [`probe::emodel`]).
//!
//! A queue that comes and goes makes nearly everything late by that rule, though real telephones wait longer. So each call is also
//! rated behind a jitter buffer that adapts ([`probe::playout`]), which went through the whole run.

use super::super::tables::CALL_LATE_NS;
use super::view::{View, is_latency};
use probe::call::{Call, Datagram, Terms};
use probe::clock::{ClockLine, RoundTrip};
use probe::emodel::{self, Codec, MouthToEar, Rating};
use probe::playout::Playout;
use record::Distribution;
use schema::rrul::{Adaptive, CallFigures, Calls, Heard};
use schema::tables::{Sample, Stream};
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

/// What comes later than this after the least delay was not heard.
const LATE_AFTER: Duration = Duration::from_nanos(CALL_LATE_NS.unsigned_abs());

impl View<'_> {
    /// How the far end's clock runs, from the round trips of the first server's probes.
    pub(super) fn clock(&self) -> Option<ClockLine> {
        let first = |stream: &Stream| is_latency(stream) && stream.server.unwrap_or_default() == 0;
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
        let datagrams: Vec<Datagram> = samples
            .iter()
            .map(|sample| Datagram {
                seq: sample.seq,
                sent_ns: sample.t_ns,
                delay_ns: delay(sample),
            })
            .collect();
        let every = self.interval(stream);
        let playout = Playout::of(&datagrams);
        let heard = |when: &Range<u64>| {
            let within = datagrams.iter().filter(|d| when.contains(&d.sent_ns));
            let within: Vec<Datagram> = within.copied().collect();
            Some(Heard {
                adaptive: adaptive(&playout, when, every),
                ..heard(&within, every)?
            })
        };
        let (idle, loaded) = (heard(&self.idle), heard(&self.loaded));
        let shown = loaded.as_ref().or(idle.as_ref());
        CallFigures {
            mos: shown.and_then(|heard| heard.mos),
            mos_adaptive: shown.and_then(|heard| heard.adaptive?.mos),
            jitter_ms: shown.and_then(|heard| heard.jitter_ms),
            loss_pct: shown.map(|heard| heard.loss_pct),
            late_pct: shown.map(|heard| heard.late_pct),
            idle,
            loaded,
        }
    }

    /// Between two datagrams of a call.
    fn interval(&self, stream: &Stream) -> Duration {
        let mut calls = self.plan.call.iter();
        let planned = calls.find(|call| call.class.to_string() == stream.class);
        planned.map_or(Duration::ZERO, |call| call.every.0)
    }
}

/// What was heard of these datagrams; nothing of none.
fn heard(datagrams: &[Datagram], every: Duration) -> Option<Heard> {
    let call = Call::of(
        datagrams,
        &Terms {
            interval: every,
            late_after: LATE_AFTER,
            least_ns: None,
        },
    )?;
    let delays = datagrams.iter().filter_map(|datagram| datagram.delay_ns);
    let variation_ms = Distribution::of(call.pdv_ns.iter().map(|ns| *ns as f64 / 1e6));
    let rating = rating(&call, every).map(|rating| (rating.r, rating.mos));
    // Of a call of which nothing arrives nothing is left.
    let rating = rating.or_else(|| (call.lost == call.sent).then_some(NOTHING));
    Some(Heard {
        sent: call.sent,
        mos: rating.map(|(_, mos)| mos),
        r: rating.map(|(r, _)| r),
        delay_ms: Distribution::of(delays.map(|ns| ns as f64 / 1e6)),
        jitter_ms: variation_ms.map(|d| d.p99),
        variation_ms,
        ipdv_ms: call.mean_ipdv_ns.map(|ns| ns / 1e6),
        loss_pct: call.loss_pct,
        late_pct: call.late_pct,
        longest_loss_run: call.effective_runs.longest,
        burst_ratio: call.effective_runs.burst_ratio,
        reordered: call.reordered,
        adaptive: None,
    })
}

/// R and MOS of a call of which nothing arrives.
const NOTHING: (f64, f64) = (0.0, 1.0);

/// The E-model's rating of a call of G.711 with concealment of losses, behind a jitter buffer that has found the least delay
/// of the phase and waits 30 ms from there.
fn rating(call: &Call, every: Duration) -> Option<Rating> {
    let network_ms = call.least_ns? as f64 / 1e6;
    let delay = MouthToEar::of(network_ms.max(0.0), every.as_secs_f64() * 1e3);
    // Without a loss there are no bursts.
    let bursts = call.effective_runs.burst_ratio.unwrap_or(1.0);
    emodel::rate_call(Codec::G711_PLC, delay, call.effective_loss_pct, bursts)
}

/// The same call behind a buffer that adapts: it waits as long as that buffer did.
fn adaptive(playout: &Playout, when: &Range<u64>, every: Duration) -> Option<Adaptive> {
    let heard = playout.heard(when)?;
    let playout_ms = heard.playout_ns.map(|ns| ns / 1e6);
    let rating = playout_ms.and_then(|playout_ms| {
        let delay = MouthToEar {
            network_ms: playout_ms.max(0.0),
            packet_ms: every.as_secs_f64() * 1e3,
            jitter_buffer_ms: 0.0,
        };
        let bursts = heard.burst_ratio.unwrap_or(1.0);
        emodel::rate_call(Codec::G711_PLC, delay, heard.missed_pct, bursts)
    });
    let rating = rating.map(|rating| (rating.r, rating.mos));
    let rating = rating.or_else(|| playout_ms.is_none().then_some(NOTHING));
    Some(Adaptive {
        playout_ms,
        late_pct: heard.late_pct,
        r: rating.map(|(r, _)| r),
        mos: rating.map(|(_, mos)| mos),
    })
}
