//! Probes that a manager sends straight back to the one that sent them, so that a tool there has round trips.
//!
//! A probe that comes on one of the 32 channels from [`ECHOED`] on goes back on the channel 32 further on. In its octets are
//! those of the probe's header, and when it left and arrived:
//!
//! ```text
//!  0               8                16
//! +---------------+----------------+------------- - -
//! | sent_ns       | arrived_ns     | the header
//! +---------------+----------------+------------- - -
//! ```
//!
//! An echo is exactly as long as its probe, so nothing is amplified, and one whose probe has no room for the two times is not
//! sent. It is a transaction like any other: the path's budget and the queue bound how many there are, and while a train is
//! under way here it waits. How long does not matter to a round trip, for when it left is known.

use crate::transaction::{Arrival, Probe, Transaction};
use std::time::Duration;

/// Probes of the 32 channels from here on are sent back.
pub const ECHOED: u8 = 64;
/// And come back on those from here on.
pub const BACK: u8 = 96;

/// Probes of channels from here on are told: the manager there says which arrived.
pub const TOLD: u8 = 128;

/// What a probe that is back says of its way there.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct There<'a> {
    /// The probe's own octets.
    pub header: &'a [u8],
    /// When it left, on the clock of the host that it left.
    pub sent_ns: u64,
    /// When it arrived, on the other's.
    pub arrived_ns: u64,
}

/// The probe that goes back for one that has come; none for those that stay.
pub fn of(arrival: &Arrival) -> Option<Transaction> {
    let place = arrival.channel.checked_sub(ECHOED)?;
    let channel = BACK + Some(place).filter(|place| *place < BACK - ECHOED)?;
    let times = [arrival.sent_ns, arrival.arrived_ns].map(u64::to_be_bytes);
    let probe = Probe {
        header: [times.as_flattened(), &arrival.header].concat(),
        octets: arrival.octets,
        gap: Duration::ZERO,
        may_carry: false,
    };
    Some(Transaction {
        channel,
        probes: vec![probe],
    })
}

/// What the octets of a probe say that is back.
pub fn read(octets: &[u8]) -> Option<There<'_>> {
    let (sent, rest) = octets.split_first_chunk()?;
    let (arrived, header) = rest.split_first_chunk()?;
    Some(There {
        header,
        sent_ns: u64::from_be_bytes(*sent),
        arrived_ns: u64::from_be_bytes(*arrived),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(channel: u8) -> Arrival {
        Arrival {
            channel,
            octets: 200,
            sequence: 9,
            sent_ns: 5,
            arrived_ns: 7,
            header: vec![1, 2, 3],
        }
    }

    #[test]
    fn a_probe_goes_back_as_long_as_it_came_and_says_how_it_came() {
        let echo = of(&arrival(ECHOED + 31)).unwrap();
        assert_eq!(echo.channel, BACK + 31);
        let [probe] = &echo.probes[..] else {
            panic!("one probe: {echo:?}")
        };
        assert_eq!(probe.octets, 200);
        let there = There {
            header: &[1, 2, 3],
            sent_ns: 5,
            arrived_ns: 7,
        };
        assert_eq!(read(&probe.header), Some(there));
    }

    #[test]
    fn what_is_back_is_not_sent_back_again_and_neither_is_what_stays() {
        for channel in (0..ECHOED).chain(BACK..=u8::MAX) {
            assert_eq!(of(&arrival(channel)), None);
        }
        assert_eq!(read(&[0; 15]), None);
    }
}
