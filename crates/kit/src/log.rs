//! What a server tells its operator: a line on stderr for each event. The system's journal adds the time.
//!
//! Whoever can reach the port can cause lines. So there are at most [`BURST`] at once and one a [`PAUSE`] after that, for strangers and
//! for sessions each; what this machine lacks is the same for all of them and told once a minute. How many were left out is said when there is room again. A reader of stderr that has stopped reading stops
//! nobody: lines without room are left out, too.

use crate::usage::plain;
use session::{Event, Session};
use std::fmt::Display;
use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use sys::{clock, process};
use units::Instant;

/// Lines at once.
const BURST: u32 = 100;
/// After a pause of this length there is room for one more.
const PAUSE: Duration = Duration::from_secs(1);
/// So often it is told that this machine lacks something.
const LACK_PAUSE: Duration = Duration::from_secs(60);
/// Characters of a line at most: peers' words end up in some.
const LONGEST: usize = 300;

/// The lines of a server; none if it is quiet.
#[derive(Debug)]
pub struct Log {
    is_quiet: bool,
    sessions: Mutex<Budget>,
    strangers: Mutex<Budget>,
    lacks: Mutex<Budget>,
}

impl Log {
    /// Writes to stderr, unless it is to be quiet.
    pub fn new(is_quiet: bool) -> Self {
        let budget = |most, pause| Mutex::new(Budget::new(clock::now(), most, pause));
        Self {
            is_quiet,
            sessions: budget(BURST, PAUSE),
            strangers: budget(BURST, PAUSE),
            lacks: budget(1, LACK_PAUSE),
        }
    }

    /// A session does what its client asks for.
    pub fn begins(&self, session: &Session, what: &str) {
        let peer = canonical(session.peer);
        self.write(&self.sessions, &format!("{peer} begins {what}"));
    }

    /// A session is over; `outcome` is why, if not because its client said so.
    pub fn ends(&self, session: &Session, what: &str, outcome: Result<(), impl Display>) {
        let peer = canonical(session.peer);
        let seconds = clock::now().since(session.began).as_secs_f64();
        let (received, sent) = session.meter.octets();
        let ours = session.failure().map(str::to_owned);
        let reason = ours.or_else(|| outcome.err().map(|error| error.to_string()));
        let reason = reason.map(|reason| format!("; {reason}"));
        let line = format!(
            "{peer} ends {what} after {seconds:.1} s: received {received} octets, sent {sent}{}",
            reason.unwrap_or_default()
        );
        self.write(&self.sessions, &line);
    }

    /// Something happened before there was a session.
    pub fn note(&self, event: &Event<'_>) {
        let (budget, line) = match event {
            Event::Refused { peer, refusal } => {
                let line = format!("{} refused: {}", canonical(*peer), refusal.message);
                (&self.strangers, line)
            }
            Event::Full { source } => {
                let line = format!("too many pending connections: closed one of {source}");
                (&self.strangers, line)
            }
            Event::Lack { error } => {
                let line = format!("a connection was not served: {error}");
                (&self.lacks, line)
            }
            _ => return,
        };
        self.write(budget, &line);
    }

    /// Somebody else's client begins a test; dropped when that is over.
    pub fn visit(self: &Arc<Self>, peer: SocketAddr, what: &'static str) -> Visit {
        let peer = canonical(peer);
        self.write(&self.strangers, &format!("{peer} begins {what}"));
        Visit {
            log: Arc::clone(self),
            peer,
            what,
            began: clock::now(),
        }
    }

    /// A client that has the key did not get what it asked for.
    pub fn refused(&self, peer: SocketAddr, reason: &str) {
        let line = format!("{} refused: {reason}", canonical(peer));
        self.write(&self.sessions, &line);
    }

    fn write(&self, budget: &Mutex<Budget>, line: &str) {
        if self.is_quiet {
            return;
        }
        let mut budget = budget.lock().unwrap_or_else(PoisonError::into_inner);
        let stderr = std::io::stderr();
        let has_room = process::can_write(&stderr);
        if let Some(left_out) = budget.admit(clock::now(), has_room) {
            let lines = lines(line, left_out);
            // Without stderr there is nobody to tell.
            let _ = stderr.lock().write_all(lines.as_bytes());
        }
    }
}

/// A test of somebody else's client under way.
#[derive(Debug)]
pub struct Visit {
    log: Arc<Log>,
    peer: SocketAddr,
    what: &'static str,
    began: Instant,
}

impl Drop for Visit {
    fn drop(&mut self) {
        let Self {
            log, peer, what, ..
        } = self;
        let seconds = clock::now().since(self.began).as_secs_f64();
        log.write(
            &log.strangers,
            &format!("{peer} ends {what} after {seconds:.1} s"),
        );
    }
}

/// A line, behind one that says how many were left out before it.
fn lines(line: &str, left_out: u64) -> String {
    let line: String = plain(line).replace('\n', " ");
    let line: String = line.chars().take(LONGEST).collect();
    if left_out == 0 {
        format!("{line}\n")
    } else {
        format!("{left_out} lines left out\n{line}\n")
    }
}

/// IPv4 as IPv4, also where an IPv6 socket took it.
fn canonical(peer: SocketAddr) -> SocketAddr {
    SocketAddr::new(peer.ip().to_canonical(), peer.port())
}

/// How many lines may be written: a token bucket.
#[derive(Debug)]
struct Budget {
    /// Lines at once, and the pause after which there is room for one more.
    most: u32,
    pause: Duration,
    lines: u32,
    /// Up to when its lines have been added.
    filled: Instant,
    left_out: u64,
}

impl Budget {
    const fn new(now: Instant, most: u32, pause: Duration) -> Self {
        Self {
            most,
            pause,
            lines: most,
            filled: now,
            left_out: 0,
        }
    }

    /// Takes one line, where it `has_room`; returns how many were left out before it. `None`: it is left out itself.
    fn admit(&mut self, now: Instant, has_room: bool) -> Option<u64> {
        let more = now.since(self.filled).as_nanos() / self.pause.as_nanos();
        let more = u32::try_from(more).unwrap_or(u32::MAX);
        self.filled = if more < self.most {
            self.filled + self.pause * more
        } else {
            now
        };
        self.lines = self.lines.saturating_add(more).min(self.most);
        if self.lines == 0 || !has_room {
            self.left_out += 1;
            return None;
        }
        self.lines -= 1;
        Some(std::mem::take(&mut self.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_leaves_a_burst_and_then_a_line_a_second() {
        let start = Instant::from_nanos(5);
        let mut budget = Budget::new(start, BURST, PAUSE);
        // Ten a second for an hour.
        let written = (0..36_000_u32)
            .filter(|n| {
                let now = start + Duration::from_millis(100) * *n;
                budget.admit(now, true).is_some()
            })
            .count();
        assert_eq!(written, 100 + 3_599);
        // A rest fills it, and what was left out is told once.
        let later = start + Duration::from_secs(9_000);
        let told = budget.admit(later, true);
        assert!(told.is_some_and(|left_out| left_out > 0), "{told:?}");
        let rest = (0..200).filter_map(|_| budget.admit(later, true));
        assert_eq!(rest.collect::<Vec<_>>(), vec![0; 99]);
    }

    #[test]
    fn what_is_lacking_is_told_once_a_minute_with_how_often_it_was() {
        let start = Instant::from_nanos(5);
        let mut budget = Budget::new(start, 1, LACK_PAUSE);
        let told = (0..130_u64).filter_map(|s| {
            let left_out = budget.admit(start + Duration::from_secs(s), true)?;
            Some((s, left_out))
        });
        assert_eq!(told.collect::<Vec<_>>(), [(0, 0), (60, 59), (120, 59)]);
    }

    #[test]
    fn what_nobody_reads_is_left_out_and_counted() {
        let now = Instant::from_nanos(5);
        let mut budget = Budget::new(now, BURST, PAUSE);
        assert_eq!(budget.admit(now, false), None);
        assert_eq!(budget.admit(now, false), None);
        assert_eq!(budget.admit(now, true), Some(2));
        assert_eq!(budget.admit(now, true), Some(0));
    }

    #[test]
    fn a_peers_words_are_one_line_that_a_terminal_does_not_obey() {
        let said = format!("192.0.2.1:9 refused: a\nb\u{1b}[2J{}", "x".repeat(1_000));
        let line = lines(&said, 0);
        assert!(line.starts_with("192.0.2.1:9 refused: a b\u{fffd}[2Jxx"));
        assert_eq!(line.chars().count(), LONGEST + 1);
        assert_eq!(lines("c", 3), "3 lines left out\nc\n");
    }
}
