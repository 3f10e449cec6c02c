//! How long the phase of idle pages must be: a load by each protocol on the idle path, as before a run over sockets.

use super::Wire;
use super::host::Part;
use super::run::{Context, world};
use crate::near::{MOST_IDLE, REHEARSED, long_enough};
use crate::streams::{Common, StreamPlan};
use kit::virtual_links::Hop;
use schema::rrul::Plan;
use std::time::Duration;
use units::{Instant, Span};

/// How often it is looked whether all loads are over.
const LOOK: Duration = Duration::from_millis(10);

/// The plan of `context`, with a phase of idle pages that is long enough for five loads by each protocol over `hops`. Plans whose
/// pages are not followed by a load stay as they are: what lasts there was asked for.
pub fn lengthen(context: &Context<'_>, hops: Vec<Hop<Wire>>) -> Plan {
    let mut plan = context.plan.clone();
    if let Some(web) = plan.web.as_mut().filter(|_| !context.plan.load.is_empty())
        && web.before.0 < MOST_IDLE
        && let Some(turn) = rehearse(context, hops)
    {
        web.before = Span(long_enough(turn, MOST_IDLE).max(web.before.0));
    }
    plan
}

/// What a load by each protocol takes, one after the other, pauses included.
fn rehearse(context: &Context<'_>, hops: Vec<Hop<Wire>>) -> Option<Duration> {
    let page = context.page.clone()?;
    let loads = u32::try_from(page.protocols.len()).unwrap_or(u32::MAX);
    let mut plan = Plan {
        idle_before: Span::default(),
        load: Vec::new(),
        probe: Vec::new(),
        call: Vec::new(),
        trace: None,
        ..context.plan.clone()
    };
    plan.web.as_mut()?.before = Span((REHEARSED + page.pause) * (loads + 1));
    let common = Common {
        families: &[4],
        cc: Some(context.congestion_control.name()),
    };
    let streams = StreamPlan::all(&plan, &common);
    let context = Context {
        plan: &plan,
        streams: &streams,
        page: Some(page.clone()),
        ..*context
    };
    let (mut world, [client, _]) = world(&context, hops);
    let end = Instant::ZERO + REHEARSED * loads;
    while world.now() < end {
        world.run_until((world.now() + LOOK).min(end));
        let parts = world.node(client).into_iter().flat_map(|host| &host.parts);
        let mut done = parts.filter_map(|part| match part {
            Part::Loading(pages) => Some(pages.number),
            _ => None,
        });
        if done.any(|done| done >= loads) {
            break;
        }
    }
    Some(world.now().since(Instant::ZERO) + page.pause)
}
