//! Packet traces of a transfer: what passed each end, as `sender.pcapng` and `receiver.pcapng` in the record's folder.
//!
//! While a transfer goes, each end keeps the header of every datagram of ours, as it left or arrived, in a [`Journal`] in memory:
//! nothing is written to a disk, and nothing is sent, that could disturb the transfer. When its round is over the far
//! end's journals come over the control connection in chunks, and the near end writes both ends' files ([`Tracing`]).
//!
//! **Clock.** All times in both files are wall-clock times of the *client*: the run's start by its wall clock, and from
//! there on by the monotonic clock of the end that saw the packet. The far end was told the run's start on its own clock, so its times are
//! as right as the offset of the two clocks (the files say how well it is known). Times of arrival are the kernel's
//! stamps; times of departure are those at which the datagram was given to the kernel.
//!
//! **Headers.** A socket does not see IP and UDP headers: they are made up of what it does know (see the crate `capture`).
//! Addresses are the near end's, in both files; where a translator of addresses lies between, the far end saw others.
//! The hop limit is the one that packets are sent with, at the receiving end too.

mod files;
mod journal;
mod tracing;

pub(crate) use files::Ends;
pub(crate) use journal::{Entry, Journal, Malformed, Way};
pub(crate) use tracing::{NearTrace, Traced, Tracing};
