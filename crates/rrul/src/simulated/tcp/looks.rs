//! Looks at a connection at the end of each bin, as a sampler takes `TCP_INFO`.

use super::{Phase, TcpEnd};
use kit::sampler::StreamEnd;
use kit::stream::nanos;
use schema::tables::Series;
use std::time::Duration;
use units::Instant;

impl TcpEnd<'_> {
    /// Looks at the connection at the end of a bin.
    pub(in super::super) fn look(&mut self, now: Instant) {
        if self.phase == Phase::Open && now > self.look {
            let row = self.row(now);
            self.found.series.extend(row);
        }
    }

    fn row(&mut self, now: Instant) -> Option<Series> {
        let (sender, _) = self.stack.get(self.key?)?.machines()?;
        let micros = |span: Duration| u32::try_from(span.as_micros()).unwrap_or(u32::MAX);
        let (acked, shot) = (sender.acked_bytes(), sender.snapshot());
        self.retransmits = sender.sent().retransmits;
        let (arrived_before, acked_before) = self.looked;
        self.looked = (self.arrived, acked);
        let bin = now.since(std::mem::replace(&mut self.look, now));
        let segments = self.segments;
        Some(Series {
            t_ns: now.as_nanos(),
            bin_ns: nanos(bin),
            stream: self.plan.id,
            direction: self.plan.kind.direction().into(),
            end: self.end.into(),
            delivered_bytes: Some(self.arrived.saturating_sub(arrived_before)),
            acked_bytes: Some(acked.saturating_sub(acked_before)),
            rtt_us: shot.srtt.map(micros),
            min_rtt_us: shot.min_rtt.map(micros),
            cwnd_segments: whole(shot.cwnd),
            ssthresh_segments: whole(shot.ssthresh),
            retransmits: Some(self.retransmits),
            segs_in: Some(segments.received),
            segs_out: Some(segments.sent),
            data_segs_in: Some(segments.received_with_data),
            data_segs_out: Some(segments.sent_with_data),
            ce_segs_in: Some(segments.received_marked),
            ..Series::default()
        })
    }

    /// The connection is over at `now`: a last look, and how it went.
    pub(in super::super) fn conclude(&mut self, now: Instant) {
        if self.phase != Phase::Open {
            self.phase = Phase::Over;
            return;
        }
        self.look(now);
        self.phase = Phase::Over;
        if let Some(key) = self.key {
            self.received += self.stack.take_heard(key);
        }
        self.found.ended = Some(StreamEnd {
            id: self.plan.id,
            first_byte_ns: self.first_byte.map(Instant::as_nanos),
            received_bytes: Some(self.received),
            retransmits: Some(self.retransmits),
            cc: Some(self.cc.name().to_owned()),
            class_seen: self.class_seen,
            ecn: Some(self.ecn),
            ..StreamEnd::default()
        });
    }
}

/// A window in whole segments; none where there is no limit.
fn whole(segments: f64) -> Option<u32> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a window, and a conversion that saturates serves"
    )]
    segments.is_finite().then_some(segments as u32)
}
