//! Round trips that need no agreement with the far end.

use crate::collector::{Finding, Teller};
use crate::stream::connect::Attempts;
use crate::stream::echo::Echoes;
use crate::streams::StreamPlan;
use kit::sampler::Sampler;
use schema::tables::Sample;
use std::net::SocketAddr;
use std::time::Duration;
use sys::clock;
use units::Instant;

/// ICMP echo.
pub(crate) fn echoes(
    plan: &StreamPlan,
    peer: SocketAddr,
    sampler: &Sampler<Teller>,
    abort: &dyn Fn() -> bool,
) -> Result<(), String> {
    let echoes = Echoes {
        peer,
        class: plan.marks(),
        size: plan.size,
        gap: plan.gap,
        until: sampler.origin() + plan.stop,
    };
    opened(plan, sampler);
    let done = echoes.run(abort, |echoed| {
        let sequence = echoed.sequence.into();
        tell(plan, sampler, sequence, echoed.sent, echoed.rtt);
    });
    done.map_err(|error| error.to_string())
}

/// Attempts to connect.
pub(crate) fn attempts(
    plan: &StreamPlan,
    peer: SocketAddr,
    sampler: &Sampler<Teller>,
    abort: &dyn Fn() -> bool,
) -> Result<(), String> {
    let attempts = Attempts {
        peer,
        class: plan.class,
        gap: plan.gap,
        until: sampler.origin() + plan.stop,
    };
    opened(plan, sampler);
    attempts.run(abort, |sequence, sent, rtt| {
        tell(plan, sampler, sequence, sent, rtt);
    })
}

fn opened(plan: &StreamPlan, sampler: &Sampler<Teller>) {
    let connected_ns = sampler.since_origin(clock::now());
    let stream = plan.id;
    // A collector that is gone needs no findings.
    let _ = sampler.sink().0.send(Finding::Opened {
        stream,
        connected_ns,
    });
}

fn tell(
    plan: &StreamPlan,
    sampler: &Sampler<Teller>,
    seq: u64,
    sent: Instant,
    rtt: Option<Duration>,
) {
    let _ = sampler.sink().0.send(Finding::Sample(Sample {
        t_ns: sampler.since_origin(sent),
        stream: plan.id,
        seq,
        rtt_ns: rtt.map(kit::stream::nanos),
        lost: rtt.is_none(),
        clock: "user".into(),
        tos_sent: plan.marks().octet(),
        ..Sample::default()
    }));
}
