//! Rows of single packets, without congestion control: a few before the transfer to find out who answers and how much is
//! quoted, and the row of short ones after it ([`super::limit`]).

use crate::quotes::{Quotes, Verdict, verdict};
use stats::random::SplitMix64;
use std::net::IpAddr;
use std::time::Duration;
use sys::udp::{Event, IcmpError, Outgoing, UdpSocket};
use sys::{Error, clock};
use transport::wire::{self, Address};
use transport::{PacketId, Segment, SegmentFlags, Seq};
use units::{Instant, TrafficClass};

/// A row of packets.
pub(super) struct Row<'a> {
    pub socket: &'a UdpSocket,
    pub address: Address,
    pub class: TrafficClass,
    /// Octets of payload in each.
    pub len: u16,
    /// From one to the next, and how many.
    pub interval: Duration,
    pub count: u32,
    /// How long the last one may take to be answered.
    pub patience: Duration,
    /// Whether one answer is enough.
    pub until_answer: bool,
    /// A secret from which identifiers are made.
    pub secret: u64,
}

/// What came of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Answers {
    pub sent: u32,
    pub answered: u32,
    /// Octets of the payload that the first answer quotes, at most those that are kept; none without an answer.
    pub quoted: Option<usize>,
    /// The first that said why it did not, and who said so.
    pub refusal: Option<(Verdict, Option<IpAddr>)>,
}

/// A row under way.
struct Going<'r, 'a> {
    row: &'r Row<'a>,
    quotes: &'r mut Quotes,
    ids: SplitMix64,
    answers: Answers,
}

impl Row<'_> {
    /// Sends the row, unless `abort` says so.
    ///
    /// # Errors
    ///
    /// When the socket cannot be used.
    pub(super) fn send(
        &self,
        quotes: &mut Quotes,
        abort: &dyn Fn() -> bool,
    ) -> Result<Answers, Error> {
        let mut going = Going {
            row: self,
            quotes,
            ids: SplitMix64::new(self.secret),
            answers: Answers::default(),
        };
        let begin = clock::now();
        while going.answers.sent < self.count && !going.is_answered() && !abort() {
            going.next()?;
            going.wait_until(begin + self.interval * going.answers.sent)?;
        }
        let end = clock::now() + self.patience;
        while clock::now() < end && !going.is_whole() && !abort() {
            going.wait_until(end.min(clock::now() + self.interval))?;
        }
        Ok(going.answers)
    }
}

impl Going<'_, '_> {
    fn is_answered(&self) -> bool {
        self.row.until_answer && (self.answers.quoted.is_some() || self.answers.refusal.is_some())
    }

    /// Whether there is nothing more to wait for.
    fn is_whole(&self) -> bool {
        self.is_answered() || self.answers.answered >= self.answers.sent
    }

    fn next(&mut self) -> Result<(), Error> {
        let id = PacketId(u64::from(self.answers.sent) << 32 | self.ids.draw() >> 32);
        let segment = Segment {
            seq: Seq(self.answers.sent),
            id,
            len: self.row.len,
            flags: SegmentFlags::default(),
            sent: clock::now(),
        };
        let mut octets = vec![0; wire::segment_length(self.row.len)];
        // It is as long as it must be.
        let emitted = wire::emit_segment(&segment, self.row.address, &mut octets);
        debug_assert!(emitted.is_ok());
        self.answers.sent += 1;
        let out = Outgoing {
            payload: &octets,
            to: Some(self.quotes.send(id)),
            from: None,
            class: self.row.class,
        };
        match self.row.socket.send(&[out]) {
            Ok(_) => Ok(()),
            Err(error) if error.is_too_long() => {
                // The kernel leaves there what would fit.
                self.take_events()?;
                let unknown = (Verdict::TooLong(None), None);
                self.answers.refusal.get_or_insert(unknown);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn wait_until(&mut self, deadline: Instant) -> Result<(), Error> {
        loop {
            let now = clock::now();
            if now >= deadline || self.is_answered() {
                return Ok(());
            }
            if self.row.socket.wait(deadline.since(now))?.event {
                self.take_events()?;
            }
        }
    }

    fn take_events(&mut self) -> Result<(), Error> {
        while let Some(event) = self.row.socket.poll_event()? {
            if let Event::Icmp(error) = event {
                self.take(&error);
            }
        }
        Ok(())
    }

    fn take(&mut self, error: &IcmpError) {
        match verdict(error) {
            Verdict::Arrived => {
                // Of what is quoted in full only ours counts; of anything else there is no telling.
                let quoted = error.quoted.as_bytes().len();
                if self.quotes.find(error).is_none() && quoted >= wire::SEGMENT_HEADER {
                    return;
                }
                self.answers.answered += 1;
                self.answers.quoted.get_or_insert(quoted);
            }
            other => {
                self.answers.refusal.get_or_insert((other, error.reporter));
            }
        }
    }
}
