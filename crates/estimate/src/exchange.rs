//! Trains of requests to a far end of somebody else, which answers them one by one.
//!
//! The estimator cannot tell the difference between this [carrier] and any other: a reply is a probe that was sent back. What a
//! far end does not tell is missing afterwards ([`Exchanging::told`]), not zero.

mod arrival;
mod carrier;
mod tally;

use self::carrier::Exchanging;
use super::plan::{Method, Plan, What};
use super::run::Outcome;
use super::{Live, run};
use far_ends::address::Protocol;
use kit::control::Context;
use kit::far::StopOnDrop;
use kit::foreign::Found;
use kit::instrument::Cpus;
use kit::sampler::Sampler;
use record::RecordWriter;
use schema::estimate::Finding;
use session::ClockOffset;
use std::sync::atomic::AtomicBool;
use sys::clock;
use units::Dscp;

/// Far ends of this kind say nothing of their clock beforehand.
const NO_CLOCK: ClockOffset = ClockOffset {
    offset_ns: 0,
    rtt_ns: 0,
};

/// Whether such a far end can tell what is asked for.
///
/// # Errors
/// One line for whoever asked.
pub fn check(plan: &Plan, protocol: Protocol) -> Result<(), String> {
    let scheme = protocol.scheme();
    if protocol.tells().loads {
        return Err(format!(
            "{scheme}:// servers take load but echo no probes - run 'isobath rrul {scheme}://HOST'"
        ));
    }
    if plan.method != Method::Isochronous {
        return Err(format!(
            "a {scheme}:// server only echoes packets, which is enough for rtt, owd, jitter and loss with the estimator \
             'isochronous' - for '{}' run 'isobath serve' there",
            plan.what.name()
        ));
    }
    if protocol.is_reliable() && plan.what == What::Loss {
        return Err(format!(
            "{scheme}:// goes over TCP, which repeats what is lost, so only rtt can be measured - see 'isobath far-ends'"
        ));
    }
    if protocol.is_reliable() && plan.class != Dscp::default() {
        return Err(format!(
            "{scheme}:// goes over TCP with its usual DSCP - leave out --dscp"
        ));
    }
    if matches!(plan.what, What::Owd | What::Jitter) && !protocol.tells().delays {
        return Err(format!(
            "{scheme}:// replies carry no time stamps, so only rtt and loss can be measured - see 'isobath far-ends'"
        ));
    }
    Ok(())
}

/// Carries the plan out towards `to`.
///
/// # Errors
/// Only when the record cannot be written; everything else ends up in the outcome.
pub fn run(
    context: &Context<'_, Plan, Live>,
    to: &Found,
    record: &mut RecordWriter,
) -> Result<Outcome, record::Error> {
    let origin = clock::now();
    let cpus = Cpus::default();
    let stop = AtomicBool::new(false);
    let sampler = Sampler::new(origin, "client", &cpus);
    std::thread::scope(|scope| {
        let _stop = StopOnDrop(&stop);
        scope.spawn(|| sampler.run(&stop));
        let mut exchanging = match Exchanging::open(context, to, origin, record) {
            Ok(exchanging) => exchanging,
            Err(broken) => return run::unmade(context, NO_CLOCK, broken),
        };
        let found = exchanging.find();
        exchanging.close();
        let (ending, finding) = match found {
            Ok(finding) => (context.ending(), finding),
            Err(broken) => {
                let ending = broken.ending(context.is_interrupted())?;
                (ending, Finding::none("the run did not finish"))
            }
        };
        let cpu = cpus.take();
        exchanging.record.append(&cpu)?;
        exchanging.record.flush()?;
        let (quality, gap_error_ns, traffic) = exchanging.end();
        Ok(Outcome {
            ending,
            finding,
            seconds: clock::now().since(origin).as_secs_f64(),
            path_mtu: None,
            quality: vec![quality],
            gap_error_ns,
            traffic,
            cpu,
            truth: Vec::new(),
            clock: NO_CLOCK,
            far: None,
        })
    })
}
