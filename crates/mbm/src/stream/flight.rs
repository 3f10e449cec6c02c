//! Packets of a self-clocked stream that are under way.
//!
//! A packet is taken for lost when one that left later has been acknowledged and a quarter of a round trip more has passed than
//! that one took (the rule of RFC 8985): so reordering within a quarter of a round trip is no loss. When nothing comes back at all,
//! everything is taken for lost after a while, and the clock starts anew.

use std::collections::VecDeque;
use std::time::Duration;
use units::Instant;

/// Patience before the first round trip is known (RFC 6298 section 2.1).
const FIRST_TIMEOUT: Duration = Duration::from_secs(1);
/// Patience beyond two round trips.
const MARGIN: Duration = Duration::from_millis(200);

/// One packet that left.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Instant,
    /// The window by which it left.
    window: u32,
    fate: Fate,
}

#[derive(Clone, Copy, Debug)]
enum Fate {
    Open,
    Acked(Duration),
    Lost,
}

/// What was learnt of one packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct News {
    pub(super) seq: u64,
    pub(super) window: u32,
    /// Its round trip; `None` when it was lost.
    pub(super) rtt: Option<Duration>,
    /// Of a lost packet: the round trip of the last packet before it that arrived.
    pub(super) rtt_before: Option<Duration>,
    /// Of a lost packet: the round trip of the first packet after it that arrived.
    pub(super) rtt_after: Option<Duration>,
}

impl Sent {
    const fn rtt(&self) -> Option<Duration> {
        match self.fate {
            Fate::Acked(rtt) => Some(rtt),
            _ => None,
        }
    }
}

/// The packets that are under way, and those before them that may still matter.
#[derive(Clone, Debug, Default)]
pub(super) struct Flight {
    base: u64,
    sent: VecDeque<Sent>,
    open: u32,
    /// Number and round trip of the latest packet that was acknowledged.
    newest: Option<(u64, Duration)>,
    smoothed: Option<Duration>,
    /// Round trip of the last acknowledged packet before `base`.
    rtt_before: Option<Duration>,
}

impl Flight {
    /// The next packet leaves at `now` by `window`; returns its number.
    pub(super) fn send(&mut self, now: Instant, window: u32) -> u64 {
        self.sent.push_back(Sent {
            at: now,
            window,
            fate: Fate::Open,
        });
        self.open += 1;
        self.next() - 1
    }

    /// Number of the next packet.
    pub(super) fn next(&self) -> u64 {
        self.base + self.sent.len() as u64
    }

    /// Packets under way.
    pub(super) const fn open(&self) -> u32 {
        self.open
    }

    /// Packet `seq` was acknowledged; `None` when it never left, or its fate was known.
    pub(super) fn acked(&mut self, seq: u64, now: Instant) -> Option<News> {
        let index = usize::try_from(seq.checked_sub(self.base)?).ok()?;
        let sent = self.sent.get_mut(index)?;
        let rtt = now.since(sent.at);
        let was_open = matches!(sent.fate, Fate::Open);
        if !was_open {
            return None;
        }
        sent.fate = Fate::Acked(rtt);
        let window = sent.window;
        self.open -= 1;
        if self.newest.is_none_or(|(newest, _)| seq > newest) {
            self.newest = Some((seq, rtt));
        }
        self.smoothed = Some(self.smoothed.map_or(rtt, |old| (old * 7 + rtt) / 8));
        self.forget();
        Some(News {
            seq,
            window,
            rtt: Some(rtt),
            rtt_before: None,
            rtt_after: None,
        })
    }

    /// One packet that is to be taken for lost at `now`; ask until there is none.
    pub(super) fn lost(&mut self, now: Instant) -> Option<News> {
        let (index, due) = self.first_due()?;
        if due > now {
            return None;
        }
        let rtt_before = self.before(index);
        let rtt_after = self.sent.iter().skip(index).find_map(Sent::rtt);
        let sent = self.sent.get_mut(index)?;
        sent.fate = Fate::Lost;
        let news = News {
            seq: self.base + index as u64,
            window: sent.window,
            rtt: None,
            rtt_before,
            rtt_after,
        };
        self.open -= 1;
        self.forget();
        Some(news)
    }

    /// When [`lost`](Self::lost) has something to say if nothing is acknowledged before.
    pub(super) fn next_timeout(&self) -> Option<Instant> {
        self.first_due().map(|(_, due)| due)
    }

    /// The first open packet, and when it is to be taken for lost. After [`forget`](Self::forget) it is the first of all.
    fn first_due(&self) -> Option<(usize, Instant)> {
        let index = self
            .sent
            .iter()
            .position(|sent| matches!(sent.fate, Fate::Open))?;
        let sent = self.sent.get(index)?;
        let seq = self.base + index as u64;
        let patience = match self.newest {
            Some((newest, rtt)) if newest > seq => rtt + rtt / 4,
            _ => self.smoothed.map_or(FIRST_TIMEOUT, |rtt| 2 * rtt + MARGIN),
        };
        Some((index, sent.at + patience))
    }

    /// Round trip of the last acknowledged packet before the one at `index`.
    fn before(&self, index: usize) -> Option<Duration> {
        let mut earlier = self.sent.iter().take(index).rev();
        earlier.find_map(Sent::rtt).or(self.rtt_before)
    }

    /// Drops what is settled at the front.
    fn forget(&mut self) {
        while let Some(sent) = self.sent.front() {
            match sent.fate {
                Fate::Open => return,
                Fate::Acked(rtt) => self.rtt_before = Some(rtt),
                Fate::Lost => {}
            }
            self.sent.pop_front();
            self.base += 1;
        }
    }
}
