//! The datagrams of a run: probes that are echoed, and the two ways of a call.
//!
//! ```text
//! octet 0     0 a probe, 1 a datagram of the call
//! octets 4-7  its number, little end first
//! ```
//!
//! A probe goes back with the server's clock behind it, eight octets more, little end first: as over a WebSocket.

use crate::desk::{Begun, Run};
use bytes::Bytes;
use rrul::streams::Kind;
use std::time::Duration;
use sys::clock;
use units::Instant;
use web::webtransport::{Sender, Session};

/// Octets before what only makes a datagram as long as it should be.
const HEADER: usize = 8;
/// Octets of a probe, at most.
const LONGEST_PROBE: usize = 256;
const PROBE: u8 = 0;
const CALL: u8 = 1;
/// How often it is looked whether the run has begun, or is over.
const LOOK: Duration = Duration::from_millis(20);

/// Has the session of `run` until either is over.
pub(crate) async fn carry(mut session: Session, run: &Run) {
    while !run.is_over() {
        let wait = run.begun().map_or(LOOK, |begun| until_next(run, &begun));
        tokio::select! {
            datagram = session.next() => match datagram {
                Some(datagram) => take(&datagram, run, &mut session.sender),
                None => return,
            },
            () = tokio::time::sleep(wait) => talk(run, &mut session.sender),
        }
    }
}

/// Answers a probe, and notes a datagram of the call.
fn take(datagram: &[u8], run: &Run, sender: &mut Sender) {
    let now = clock::now();
    match datagram.first() {
        Some(&PROBE) if datagram.len() <= LONGEST_PROBE => {
            let reply = [datagram, &now.as_nanos().to_le_bytes()].concat();
            sender.send(reply.into());
        }
        Some(&CALL) => {
            let number = datagram.get(4..HEADER).and_then(|n| n.try_into().ok());
            if let (Some(begun), Some(number)) = (run.begun(), number) {
                run.heard(u32::from_le_bytes(number), begun.sampler.since_origin(now));
            }
        }
        _ => {}
    }
}

/// Sends what is due of the call.
fn talk(run: &Run, sender: &mut Sender) {
    let Some(begun) = run.begun() else { return };
    let Some(call) = begun.streams.iter().find(|s| s.kind == Kind::CallDown) else {
        return;
    };
    let (now, origin) = (clock::now(), begun.sampler.origin());
    if now >= origin + call.stop {
        return;
    }
    let Some(seq) = run.call().due(origin, call.gap, now) else {
        return;
    };
    let mut datagram = vec![0; call.size.max(HEADER)];
    datagram[0] = CALL;
    datagram[4..HEADER].copy_from_slice(&seq.to_le_bytes());
    run.call()
        .sends(seq, begun.sampler.since_origin(clock::now()));
    sender.send(Bytes::from(datagram));
}

/// How long until the next datagram of the call is due.
fn until_next(run: &Run, begun: &Begun) -> Duration {
    let call = begun.streams.iter().find(|s| s.kind == Kind::CallDown);
    let call = call.filter(|call| clock::now() < begun.sampler.origin() + call.stop);
    call.map_or(LOOK, |call| {
        let next = u32::try_from(run.call().sent.len()).unwrap_or(u32::MAX);
        let due: Instant = begun.sampler.origin() + call.gap * next;
        due.since(clock::now()).min(LOOK)
    })
}
