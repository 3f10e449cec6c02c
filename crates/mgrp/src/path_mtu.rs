//! How long the packets are that a path lets pass, found by asking the path (after RFC 8899).
//!
//! A router that cannot pass a packet on is to say so (RFC 1191, RFC 8201). Where that is filtered, long packets are gone without a word
//! while short ones pass: a *black hole*. So the sender asks: it sends words that are as long as packets, and the other end says by
//! another way how long those were that came. The longest of them is the path's.
//!
//! The path is believed to take what was agreed upon until it is seen not to. One word of that length is sent first, and on most paths
//! that is all; where it is not answered, words of all usual lengths are, three times. Afterwards one word of the length that was
//! found is sent from time to time. When three in a row are not answered, or a router says that packets are too long, all begins
//! anew; and where the path took less than was agreed upon, after ten minutes, for paths change.
//!
//! What follows from that is another's: here are lengths and times only.

use std::time::Duration;
use units::Instant;

/// Octets of packets that links in use take: what RFC 1191 section 7.1 lists, what PPP over Ethernet leaves (RFC 2516), an Ethernet's less the
/// headers of usual tunnels, and those of long frames.
const LENGTHS: [u16; 20] = [
    576, 1_006, 1_200, 1_280, 1_300, 1_320, 1_340, 1_360, 1_380, 1_400, 1_420, 1_440, 1_460, 1_472,
    1_480, 1_492, 1_500, 2_002, 4_352, 9_000,
];
/// How long an answer may take.
const ROUND: Duration = Duration::from_secs(1);
/// How often all lengths are sent.
const ROUNDS: u32 = 3;
/// How often a word of the length that was found is sent.
const KEEP: Duration = Duration::from_secs(10);
/// So many of these without an answer are no chance.
const MISSES: u32 = 3;
/// When a path that took less is asked again (RFC 8899 section 5.1.1: `PMTU_RAISE_TIMER`).
const RAISE: Duration = Duration::from_mins(10);

/// See the [module](self). Lengths are octets of whole IP packets.
#[derive(Clone, Debug)]
pub struct PathMtu {
    most: u16,
    /// What the path is believed to take.
    mtu: u16,
    /// The longest that was answered in this search.
    heard: u16,
    phase: Phase,
    due: Instant,
    /// When it is tried again whether the path takes more, and until when what routers say is left alone.
    raise_at: Instant,
    quiet_until: Instant,
    /// Whether anything was ever answered.
    is_answered: bool,
    /// What is to be sent at once, from the end.
    words: Vec<u16>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Phase {
    /// So many rounds have begun.
    Search(u32),
    /// So many words of the length that was found have been sent since one was answered.
    Found(u32),
}

impl PathMtu {
    /// A path that nothing is known of but that no packet is to be longer than `most` octets.
    pub const fn new(most: u16, now: Instant) -> Self {
        Self {
            most,
            mtu: most,
            heard: 0,
            phase: Phase::Search(0),
            due: now,
            raise_at: now,
            quiet_until: now,
            is_answered: false,
            words: Vec::new(),
        }
    }

    /// What the path is believed to take.
    pub const fn mtu(&self) -> u16 {
        self.mtu
    }

    /// Whether that was found, and is not what was agreed upon because nothing else is known.
    pub const fn is_found(&self) -> bool {
        matches!(self.phase, Phase::Found(_)) && self.heard > 0
    }

    /// Whether it is being looked for.
    pub const fn is_searching(&self) -> bool {
        matches!(self.phase, Phase::Search(_))
    }

    /// How long a word is to be sent now; asked until it says nothing.
    pub fn poll_word(&mut self, now: Instant) -> Option<u16> {
        if self.words.is_empty() && self.due <= now {
            match self.phase {
                Phase::Search(round) => self.search(round, now),
                Phase::Found(missed) => self.keep(missed, now),
            }
        }
        self.words.pop()
    }

    /// When [`poll_word`](Self::poll_word) is to be asked again.
    pub const fn next_timeout(&self) -> Instant {
        if self.words.is_empty() {
            self.due
        } else {
            Instant::ZERO
        }
    }

    /// The other end says that a word of so many octets came.
    ///
    /// Answers of lengths that are never asked for change nothing.
    pub fn handle_answer(&mut self, octets: u16, now: Instant) {
        let is_usual = octets < self.most && LENGTHS.contains(&octets);
        if octets != self.most && !is_usual {
            return;
        }
        self.is_answered = true;
        match self.phase {
            Phase::Search(_) => {
                self.heard = self.heard.max(octets);
                if self.heard == self.most {
                    self.find(now);
                }
            }
            Phase::Found(_) if octets == self.mtu => self.phase = Phase::Found(0),
            // It came when the search was over: the longest comes first.
            Phase::Found(_) if self.heard == 0 => {
                self.heard = octets;
                self.find(now);
            }
            Phase::Found(_) => {}
        }
    }

    /// A router says that packets are too long. One that goes on saying so is asked about once in ten seconds, and where nothing is answered
    /// once in ten minutes.
    pub fn handle_too_long(&mut self, now: Instant) {
        if matches!(self.phase, Phase::Found(_)) && self.quiet_until <= now {
            self.begin(now);
        }
    }

    fn begin(&mut self, now: Instant) {
        self.phase = Phase::Search(0);
        self.heard = 0;
        self.due = now;
        self.words.clear();
    }

    fn search(&mut self, round: u32, now: Instant) {
        if round > ROUNDS {
            self.find(now);
            return;
        }
        self.words = if round == 0 {
            vec![self.most]
        } else {
            let usual = LENGTHS.into_iter().filter(|length| *length < self.most);
            let longer = usual.filter(|length| *length > self.heard);
            longer.chain([self.most]).collect()
        };
        self.phase = Phase::Search(round + 1);
        self.due = now + ROUND;
    }

    /// The search is over. An end that has never answered anything is no evidence of the path; one that has is asked again soon.
    fn find(&mut self, now: Instant) {
        self.words.clear();
        self.raise_at = now + RAISE;
        self.due = now + KEEP;
        self.phase = Phase::Found(0);
        if self.heard > 0 {
            self.mtu = self.heard;
        } else if self.is_answered {
            self.phase = Phase::Found(MISSES);
        } else {
            self.due = self.raise_at;
        }
        self.quiet_until = self.due;
    }

    fn keep(&mut self, missed: u32, now: Instant) {
        let is_short = self.mtu < self.most || self.heard == 0;
        if missed >= MISSES || is_short && self.raise_at <= now {
            self.begin(now);
            self.search(0, now);
        } else {
            self.words = vec![self.mtu];
            self.phase = Phase::Found(missed + 1);
            self.due = now + KEEP;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What a path is asked from one moment to another, and what it answers after `rtt`.
    struct World {
        machine: PathMtu,
        now: Instant,
        rtt: Duration,
        answers: Vec<(Instant, u16)>,
        words: Vec<u16>,
    }

    const START: Instant = Instant::from_nanos(1_000_000_000);

    impl World {
        fn new(most: u16, rtt: Duration) -> Self {
            Self {
                machine: PathMtu::new(most, START),
                now: START,
                rtt,
                answers: Vec::new(),
                words: Vec::new(),
            }
        }

        /// What the path is believed to take, and whether that was found.
        fn found(&self) -> (u16, bool) {
            (self.machine.mtu(), self.machine.is_found())
        }

        /// Time passes, on a path that takes so much.
        fn run(&mut self, takes: u16, lasts: Duration) {
            let end = self.now + lasts;
            while self.now < end {
                while let Some(word) = self.machine.poll_word(self.now) {
                    self.words.push(word);
                    if word <= takes {
                        self.answers.push((self.now + self.rtt, word));
                    }
                }
                let answer = self.answers.iter().map(|(at, _)| *at).min();
                let next = answer.unwrap_or(end).min(self.machine.next_timeout());
                self.now = next.max(self.now).min(end);
                let now = self.now;
                self.answers.retain(|(at, octets)| {
                    if *at <= now {
                        self.machine.handle_answer(*octets, now);
                    }
                    *at > now
                });
            }
        }
    }

    #[test]
    fn a_path_that_takes_all_is_asked_once() {
        let mut world = World::new(1_500, Duration::from_millis(40));
        world.run(1_500, Duration::from_secs(5));
        assert_eq!(world.words, [1_500]);
        assert!(world.machine.is_found());
        world.run(1_500, Duration::from_secs(60));
        assert_eq!(world.words.len(), 7, "one in ten seconds");
        assert_eq!(world.machine.mtu(), 1_500);
    }

    #[test]
    fn a_line_of_pppoe_is_seen_in_seconds() {
        let mut world = World::new(1_500, Duration::from_millis(40));
        world.run(1_492, Duration::from_secs(1));
        assert_eq!(world.found(), (1_500, false));
        world.run(1_492, Duration::from_secs(4));
        assert_eq!(world.found(), (1_492, true));
    }

    #[test]
    fn a_path_that_comes_to_take_less_is_seen_and_later_that_it_takes_more() {
        let mut world = World::new(1_500, Duration::from_millis(40));
        world.run(1_500, Duration::from_secs(20));
        world.run(1_400, Duration::from_secs(50));
        assert_eq!(world.machine.mtu(), 1_400);
        world.run(1_500, RAISE + KEEP + ROUND);
        assert_eq!(world.machine.mtu(), 1_500);
    }

    #[test]
    fn what_a_router_says_is_looked_into_at_once() {
        let mut world = World::new(1_500, Duration::from_millis(40));
        world.run(1_500, Duration::from_secs(12));
        world.machine.handle_too_long(world.now);
        world.run(1_420, Duration::from_secs(5));
        assert_eq!(world.machine.mtu(), 1_420);
        // One who says so without reason changes nothing.
        let mut world = World::new(1_500, Duration::from_millis(40));
        world.run(1_500, Duration::from_secs(12));
        world.machine.handle_too_long(world.now);
        world.run(1_500, Duration::from_secs(1));
        assert_eq!((world.machine.mtu(), world.words.len()), (1_500, 3));
    }

    #[test]
    fn an_end_that_answers_nothing_is_left_in_peace() {
        let mut world = World::new(1_500, Duration::from_millis(40));
        for _ in 0..60 {
            world.run(0, Duration::from_secs(1));
            world.machine.handle_too_long(world.now);
        }
        assert_eq!(world.machine.mtu(), 1_500);
        assert!(!world.machine.is_found());
        assert!(world.words.len() < 64, "{}", world.words.len());
    }

    #[test]
    fn answers_to_what_was_never_asked_change_nothing() {
        let mut world = World::new(1_500, Duration::from_millis(40));
        for phase in 0..2 {
            for octets in [0, 1, 1_499, 1_501, 9_000, u16::MAX] {
                world.machine.handle_answer(octets, world.now);
            }
            assert_eq!(world.found(), (1_500, phase > 0));
            world.run(1_500, Duration::from_secs(1));
        }
    }

    #[test]
    fn an_answer_that_comes_when_the_search_is_over_counts() {
        let mut world = World::new(1_500, Duration::from_secs(6));
        world.run(1_400, Duration::from_secs(30));
        assert_eq!(world.found(), (1_400, true));
    }

    #[test]
    fn a_search_during_an_outage_is_made_again_when_that_is_over() {
        let mut world = World::new(1_500, Duration::from_millis(40));
        world.run(1_500, Duration::from_secs(20));
        world.machine.handle_too_long(world.now);
        world.run(0, Duration::from_secs(10));
        assert_eq!(world.machine.mtu(), 1_500);
        world.run(1_400, Duration::from_secs(20));
        assert_eq!(world.machine.mtu(), 1_400);
    }

    #[test]
    fn a_router_that_goes_on_saying_so_is_not_asked_about_all_the_time() {
        let mut world = World::new(1_500, Duration::from_millis(40));
        for _ in 0..600 {
            world.run(1_400, Duration::from_millis(100));
            world.machine.handle_too_long(world.now);
        }
        assert_eq!(world.machine.mtu(), 1_400);
        assert!(world.words.len() < 5 * 64, "{}", world.words.len());
    }

    proptest! {
        #[test]
        fn the_longest_usual_length_is_found_on_every_path(
            takes in 576_u16..2_000,
            most in 600_u16..9_100,
            ms in 1_u64..900,
        ) {
            let mut world = World::new(most, Duration::from_millis(ms));
            world.run(takes, Duration::from_secs(6));
            let usual = LENGTHS.into_iter().filter(|length| *length <= takes && *length < most);
            let best = if takes >= most { most } else { usual.max().unwrap() };
            prop_assert_eq!(world.machine.mtu(), best);
        }
    }
}
