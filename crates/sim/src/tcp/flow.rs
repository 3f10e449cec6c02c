//! An established connection: octets to segments, and back.

use super::connection::{Settings, Terms};
use super::handshake::Handshake;
use super::packet::{Data, Tcp};
use std::sync::Arc;
use transport::{Ack, Receiver, Segment, Sender, Seq};
use units::{Ecn, Instant};

/// Windows above this bound segments to half of them (the kernel's rule, `tcp_bound_to_half_wnd`).
const SMALL_WINDOW: u32 = 536;
/// No segment is made shorter for a window than this.
const LEAST_SEGMENT: u32 = 28;
/// See the module.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a small state of its own"
)]
pub(super) struct Flow {
    sender: Sender,
    receiver: Receiver,
    /// Octets of a full segment.
    mss: u16,
    /// Octets that the peer has room for; `u32::MAX` is any number.
    peer_window: u32,
    /// Octets written that are in no segment yet.
    queued: u64,
    /// Octets and segments given to the sender.
    supplied: u64,
    segments: u32,
    /// When the latest segment was cut.
    burst: Instant,
    /// The application has more, and is asked for it before a segment leaves that it could fill.
    has_more: bool,
    /// The application writes no more.
    is_closing: bool,
    /// The segment that says so.
    fin: Option<Seq>,
    /// The peer's.
    peer_fin: Option<Seq>,
    /// Octets that the application has been given.
    taken: u64,
    /// The application knows of the connection, and of its peer's end.
    is_known: bool,
    is_known_closed: bool,
    /// The sender has nothing to do until something happens to it.
    is_quiet: bool,
    /// The handshake's last acknowledgement is to be sent, of what left then; [`Instant::FAR_FUTURE`] is none.
    confirms: Instant,
    /// What had to be acknowledged at once: it leaves before the application can answer.
    prompt: Option<Box<Ack>>,
    ecn: bool,
}

impl Flow {
    /// After `handshake`, whose last packet has brought an echo where it could.
    pub(super) fn new(
        settings: &Settings,
        terms: Terms,
        (handshake, echo): (&Handshake, Option<Instant>),
        now: Instant,
    ) -> Self {
        let echo = echo.filter(|_| settings.options.timestamps);
        let mut options = Arc::clone(&settings.options);
        let peer_window = terms.peer_window.unwrap_or(u32::MAX);
        let half = u16::try_from((peer_window / 2).max(LEAST_SEGMENT)).unwrap_or(u16::MAX);
        if peer_window > SMALL_WINDOW && half < options.mss {
            Arc::make_mut(&mut options).mss = half;
        }
        if handshake.was_hard(echo) {
            Arc::make_mut(&mut options).initial_window = 1;
        }
        let (mss, ecn) = (options.mss, options.ecn);
        let mut sender = Sender::by(options, terms.seed).without_events().trusting();
        sender.handle_handshake(handshake.rtt(echo, now), now);
        let mut receiver = Receiver::by(Arc::clone(&settings.options));
        receiver.offer(terms.window, now);
        Self {
            sender,
            receiver,
            mss,
            peer_window,
            queued: 0,
            supplied: 0,
            segments: 0,
            burst: Instant::ZERO,
            has_more: false,
            is_closing: false,
            fin: None,
            peer_fin: None,
            taken: 0,
            is_known: false,
            is_known_closed: false,
            is_quiet: false,
            confirms: Instant::FAR_FUTURE,
            prompt: None,
            ecn,
        }
    }

    /// The initiator's end answers the peer's SYN, which left at `sent`.
    pub(super) const fn confirm(&mut self, sent: Instant) {
        self.confirms = sent;
    }

    pub(super) fn handle_segment(&mut self, segment: &Segment, fin: bool, ecn: Ecn, now: Instant) {
        let rtt = self.sender.srtt().unwrap_or_default();
        self.receiver.set_round_trip(rtt, self.sender.rto());
        if fin {
            self.expect_end(segment);
        }
        self.receiver.handle_segment(segment, ecn, now);
        if let Some(ack) = self.receiver.poll_transmit(now) {
            self.prompt = Some(Box::new(ack));
        }
    }

    /// The peer's end: acknowledged at once by who has said its own, else with that, which an application says soon (the kernel's
    /// `tcp_fin`).
    fn expect_end(&mut self, segment: &Segment) {
        self.peer_fin = Some(segment.seq);
        if self.is_closing {
            self.receiver.hurry();
        } else if segment.seq == self.receiver.next() {
            self.receiver.take_turns();
        }
    }

    pub(super) fn handle_ack(&mut self, ack: &Ack, now: Instant) {
        self.is_quiet = false;
        self.sender.handle_ack(ack, now);
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        if self.sender.next_timeout().is_some_and(|at| at <= now) {
            self.is_quiet = false;
            self.sender.handle_timeout(now);
        }
        if self.receiver.next_timeout().is_some_and(|at| at <= now) {
            self.receiver.handle_timeout(now);
        }
    }

    pub(super) fn next_timeout(&self) -> Option<Instant> {
        let both = [self.sender.next_timeout(), self.receiver.next_timeout()];
        both.into_iter().flatten().min()
    }

    pub(super) fn poll_transmit(&mut self, now: Instant) -> Option<Tcp> {
        if self.confirms < Instant::FAR_FUTURE {
            let sent = std::mem::replace(&mut self.confirms, Instant::FAR_FUTURE);
            return Some(Tcp::Confirm(sent));
        }
        if let Some(ack) = self.prompt.take() {
            return Some(Tcp::Ack(ack));
        }
        self.supply(now);
        if let Some(mut segment) = self.poll_sender(now) {
            let fin = self.fin == Some(segment.seq) && !segment.flags.probe;
            // Nothing is acknowledged at once for being the last so far.
            segment.flags.last = false;
            let ack = self.receiver.poll_with_data(segment.len, now);
            return Some(Tcp::Data(Box::new(Data { segment, fin, ack })));
        }
        let ack = self.receiver.poll_transmit(now)?;
        Some(Tcp::Ack(Box::new(ack)))
    }

    fn poll_sender(&mut self, now: Instant) -> Option<Segment> {
        if self.is_quiet {
            return None;
        }
        let segment = self.sender.poll_transmit(now);
        self.is_quiet = segment.is_none() && self.sender.is_idle();
        segment
    }

    /// Whether something has happened that an application wants to know, since the last call.
    pub(super) fn take_news(&mut self) -> bool {
        let closed = self.has_peer_closed();
        let is_news = !self.is_known || closed != self.is_known_closed;
        (self.is_known, self.is_known_closed) = (true, closed);
        is_news || self.receiver.bytes() > self.taken
    }

    /// Cuts the next segment, if the peer has room for it. Without Nagle's algorithm the kernel fills the window to its end, but
    /// begins no burst with less than a full segment when it has more.
    fn supply(&mut self, now: Instant) {
        let is_filling = self.has_more && self.has_little() && !self.is_closing;
        if self.fin.is_some() || self.sender.has_supply() || is_filling {
            return;
        }
        let out = self.supplied - self.sender.acked_bytes();
        let room = match self.peer_window {
            u32::MAX => u64::MAX,
            window => u64::from(window).saturating_sub(out),
        };
        let wanted = self.queued.min(self.mss.into());
        let fits = wanted <= room || out == 0 || (self.burst == now && room > 0);
        let len = if out == 0 { wanted } else { wanted.min(room) };
        let ends = self.is_closing && len == self.queued;
        if len == 0 && !ends || !fits {
            return;
        }
        self.burst = now;
        if ends {
            self.fin = Some(Seq(self.segments));
        }
        self.is_quiet = false;
        self.sender
            .supply_one(u16::try_from(len).unwrap_or(u16::MAX));
        self.segments = self.segments.wrapping_add(1);
        self.supplied += len;
        self.queued -= len;
    }

    /// Octets that wait to be sent.
    pub(super) const fn queued(&self) -> u64 {
        self.queued
    }

    pub(super) const fn write(&mut self, octets: u64, has_more: bool) {
        if !self.is_closing {
            self.queued += octets;
            self.has_more = has_more;
        }
    }

    /// Whether what waits does not fill a segment.
    pub(super) const fn has_little(&self) -> bool {
        self.queued < self.mss as u64
    }

    pub(super) const fn close(&mut self) {
        self.is_closing = true;
    }

    /// Octets that have come in order since the last call.
    pub(super) const fn take_heard(&mut self) -> u64 {
        let heard = self.receiver.bytes() - self.taken;
        self.taken += heard;
        heard
    }

    /// Whether the peer has said its last octet, and it is here.
    pub(super) fn has_peer_closed(&self) -> bool {
        self.peer_fin
            .is_some_and(|fin| self.receiver.next().minus(fin) > 0)
    }

    /// Whether everything that this end said has arrived, its end included.
    pub(super) fn is_all_acked(&self) -> bool {
        self.fin.is_some() && self.sender.acked() >= u64::from(self.segments)
    }

    pub(super) const fn sender(&self) -> &Sender {
        &self.sender
    }

    pub(super) const fn machines(&self) -> (&Sender, &Receiver) {
        (&self.sender, &self.receiver)
    }

    /// The ECN field of a packet.
    pub(super) const fn ecn(&self, tcp: &Tcp) -> Ecn {
        if self.ecn && matches!(tcp, Tcp::Data(_)) {
            Ecn::Ect0
        } else {
            Ecn::NotEct
        }
    }
}
