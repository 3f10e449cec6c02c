//! Where a tool's trains go, and by which channels what came of them is told.

use mgrp::echo::{self, ECHOED, TOLD};
use mgrp::transaction;
use probe::train::{Arrival, Back, Train};
use std::net::IpAddr;

/// Channels of each kind for tools of their own; those from here on are the manager's that measures for others.
const OF_TOOLS: u8 = 16;

/// The peer behind an address, on channels that nobody else on this host uses towards it.
#[derive(Clone, Copy)]
pub struct Target {
    pub(super) to: IpAddr,
    /// Of trains that go there only, of those that come back, and of what comes back of them.
    there: u8,
    echoed: u8,
    back: u8,
}

impl Target {
    /// Of a tool.
    pub fn of_tool(to: IpAddr) -> Self {
        let place = u8::try_from(std::process::id() % u32::from(OF_TOOLS)).unwrap_or(0);
        Self::at(to, place)
    }

    /// Of a tool that does not want to know what arrives.
    pub fn unheard(to: IpAddr) -> Self {
        Self {
            there: 0,
            ..Self::of_tool(to)
        }
    }

    /// Of the manager's measurement number `number` of those under way.
    pub const fn of_manager(to: IpAddr, number: u8) -> Self {
        Self::at(to, OF_TOOLS + number % OF_TOOLS)
    }

    const fn at(to: IpAddr, place: u8) -> Self {
        Self {
            to,
            there: TOLD + place,
            echoed: ECHOED + place,
            back: echo::BACK + place,
        }
    }

    /// The channels to listen on: of probes that arrive there, and of those that come back.
    pub(super) const fn channels(self) -> [u8; 2] {
        [self.there, self.back]
    }

    /// A probe of ours that has arrived, or is back, and what it says of itself.
    pub(super) fn probe(self, arrival: &transaction::Arrival) -> Option<(u64, Arrival)> {
        let (number, sent_ns, arrived_ns, back) = if arrival.channel == self.there {
            let number = arrival.header.as_slice();
            (number, arrival.sent_ns, arrival.arrived_ns, None)
        } else if arrival.channel == self.back {
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
        Some((u64::from_be_bytes(number.try_into().ok()?), arrival))
    }

    /// Where a train goes out.
    pub(super) const fn out(self, train: &Train) -> u8 {
        if train.echo { self.echoed } else { self.there }
    }
}
