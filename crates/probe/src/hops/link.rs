//! The same link, seen from both ends.
//!
//! The client counts hops from itself, the server from itself. On a path of n links that is the same there and back, the
//! server's hop j is n - j for the client. Each trace names a stretch of the path with the queue on it: from the last
//! answering hop without the rise to the first one with it. A router that is silent to one end often answers the other, as
//! each end sees another of its interfaces. So the queue is where both stretches overlap.

use super::{Bottleneck, Trace};
use core::net::IpAddr;

/// The stretch of the path that holds the queue, in hops counted from the client: 0 is the client.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Between {
    /// The hop on the client's side.
    pub near_hop: u8,
    /// Its address, as the trace that set this bound saw it; `None` for the client itself.
    pub near: Option<IpAddr>,
    /// The hop on the server's side.
    pub far_hop: u8,
    /// Its address, as the trace that set this bound saw it; `None` for the server itself.
    pub far: Option<IpAddr>,
}

/// Where both directions' traces put the bottleneck. `None` when either has none, when either never reached its end, or
/// when they do not overlap: then the two directions have different paths or different bottlenecks.
pub fn between(up: &Trace, down: &Trace) -> Option<Between> {
    let (seen_up, seen_down) = (up.finding.bottleneck()?, down.finding.bottleneck()?);
    let length = up.end?;
    if down.end? != length {
        return None;
    }
    let up = from_client(seen_up);
    let down = from_server(seen_down, length)?;
    let (near_hop, near) = if up.near_hop >= down.near_hop {
        (up.near_hop, up.near)
    } else {
        (down.near_hop, down.near)
    };
    let (far_hop, far) = if up.far_hop <= down.far_hop {
        (up.far_hop, up.far)
    } else {
        (down.far_hop, down.far)
    };
    (near_hop < far_hop).then_some(Between {
        near_hop,
        near,
        far_hop,
        far,
    })
}

fn from_client(seen: &Bottleneck) -> Between {
    Between {
        near_hop: seen.before_hop,
        near: seen.before,
        far_hop: seen.hop,
        far: Some(seen.at),
    }
}

/// Turned round; `None` when it lies beyond the path's length.
fn from_server(seen: &Bottleneck, length: u8) -> Option<Between> {
    Some(Between {
        near_hop: length.checked_sub(seen.hop)?,
        near: Some(seen.at),
        far_hop: length.checked_sub(seen.before_hop)?,
        far: seen.before,
    })
}
