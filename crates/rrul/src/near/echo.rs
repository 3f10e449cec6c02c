//! Round trips that need no agreement with the far end.

use crate::collector::{Finding, Teller};
use crate::stream::connect::Attempts;
use crate::stream::echo::Echoes;
use crate::streams::StreamPlan;
use far_ends::address::{FarEnd, Keys, Protocol};
use kit::foreign::Found;
use kit::sampler::Sampler;
use schema::tables::Sample;
use std::net::SocketAddr;
use std::time::Duration;
use sys::clock;
use units::Instant;
use web::Trust;

/// ICMP echo of the host at `peer`.
pub(crate) fn echoes(
    plan: &StreamPlan,
    peer: SocketAddr,
    sampler: &Sampler<Teller>,
    abort: &dyn Fn() -> bool,
) -> Result<(), String> {
    let found = Found {
        far_end: FarEnd {
            protocol: Protocol::Icmp,
            host: peer.ip().to_string(),
            path: String::new(),
        },
        to: peer,
        other: "",
        trust: Trust::System,
        keys: Keys::default(),
    };
    // That nobody answers is warned of with all that is missing.
    asked(plan, &found, sampler, abort).map(|_| ())
}

/// The stream's far end beside the run's servers.
pub(crate) fn beside(
    plan: &StreamPlan,
    all: &[Found],
    sampler: &Sampler<Teller>,
    abort: &dyn Fn() -> bool,
) -> Result<(), String> {
    let found = all.get(usize::from(plan.server));
    let found = found.ok_or("it was not looked up")?;
    match asked(plan, found, sampler, abort)? {
        Some(silence) => Err(silence),
        None => Ok(()),
    }
}

/// In one line, why nobody answers, if nobody did.
fn asked(
    plan: &StreamPlan,
    found: &Found,
    sampler: &Sampler<Teller>,
    abort: &dyn Fn() -> bool,
) -> Result<Option<String>, String> {
    let echoes = Echoes {
        found,
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
    done.map_err(|broken| broken.reason().unwrap_or_else(|error| error.to_string()))
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
