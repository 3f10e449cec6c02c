//! Where trains by a manager go, and on which channels.

use crate::manager::link::echo::{self, ECHOED};
use crate::manager::link::told::TOLD;
use mgrp::transaction;
use probe::train::{Arrival, Back, Train};
use std::net::IpAddr;

/// Channels of each kind for tools of their own; those from here on are the manager's that measures for others.
const OF_TOOLS: u8 = 16;

/// Where trains go: to the peer behind an address, on channels that nobody else on this host uses towards it.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    pub(super) to: IpAddr,
    /// Below [`OF_TOOLS`] of a tool, above of the manager; less than 32.
    place: u8,
}

impl Target {
    /// Of a tool.
    pub(crate) fn of_tool(to: IpAddr) -> Self {
        let place = u8::try_from(std::process::id() % u32::from(OF_TOOLS)).unwrap_or(0);
        Self { to, place }
    }

    /// Of the manager's measurement number `number` of those under way.
    pub(crate) const fn of_manager(to: IpAddr, number: u8) -> Self {
        let place = OF_TOOLS + number % OF_TOOLS;
        Self { to, place }
    }

    /// A probe of ours that has arrived, or is back, and its number.
    pub(super) fn probe(self, arrival: &transaction::Arrival) -> Option<(u64, Arrival)> {
        let (header, sent_ns, arrived_ns, back) = if arrival.channel == TOLD + self.place {
            let header = arrival.header.as_slice();
            (header, arrival.sent_ns, arrival.arrived_ns, None)
        } else if arrival.channel == echo::BACK + self.place {
            let echo = echo::read(&arrival.header)?;
            let back = Back {
                left_ns: arrival.sent_ns,
                returned_ns: arrival.arrived_ns,
            };
            (echo.header, echo.sent_ns, echo.arrived_ns, Some(back))
        } else {
            return None;
        };
        let arrival = Arrival {
            number: 0,
            sent_ns,
            arrived_ns,
            back,
        };
        Some((u64::from_be_bytes(header.try_into().ok()?), arrival))
    }

    /// Where a train goes out.
    pub(super) const fn out(self, train: &Train) -> u8 {
        let first = if train.echo { ECHOED } else { TOLD };
        first + self.place
    }

    /// Its channel of those from `first` on.
    pub(super) const fn channel(self, first: u8) -> u8 {
        first + self.place
    }
}
