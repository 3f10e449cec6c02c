//! Leases: how a run that loads gets its hosts and links for itself.
//!
//! A lease is an entry of a key-value bucket that forgets entries of a certain age. Whoever creates the entry holds what it stands for, and
//! renews it by its revision; whoever is killed renews nothing, and the bucket forgets. There is no scheduler that could die, and no clock
//! that two hosts would have to share: the holder counts from when it *asked*, on its own monotonic clock, the bucket from when it *stored*,
//! which is later. So the holder stops before the bucket forgets, whatever delays there are between them.
//!
//! All that a run needs is taken in the order of names; whoever finds one of them taken gives all back and rests for a random while. So
//! nobody waits for somebody who waits for him.
//!
//! [`Lessee`] does no I/O. Ask [`Lessee::poll`] what to ask of the bucket, and tell [`Lessee::answer`] what came of it, one at a time;
//! [`Lessee::may_load`] says whether the run may go on. Time must not go back.

use crate::chance::Dice;
use std::collections::BTreeMap;
use std::time::Duration;
use units::Instant;

/// How long the bucket keeps an entry that nobody renews.
pub const LENGTH: Duration = Duration::from_secs(15);
/// A lease is renewed so long after it was asked for.
const RENEWAL: Duration = Duration::from_secs(3);
/// A run that loads stops so long before the bucket could forget its lease: time to end in order.
const MARGIN: Duration = Duration::from_secs(5);
/// How long a lease is safe after it was asked for.
const SAFE: Duration = LENGTH.saturating_sub(MARGIN);
/// Before the next try, at least, and at most twice as long.
const REST: Duration = Duration::from_millis(500);

/// What is asked of the bucket. Each request ends, with an answer or without.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Ask {
    /// To store an entry where there is none.
    Create(String),
    /// To store it again, if it still has this revision.
    Renew(String, u64),
    /// To remove it, if it still has this revision.
    Remove(String, u64),
}

/// What came of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Answer {
    /// It is stored, with this revision.
    Stored(u64),
    /// It was stored by an earlier request whose answer never came, and has this revision.
    WasStored(u64),
    /// Somebody else's is there; whose.
    Taken(String),
    /// There is none.
    Gone,
    /// There was no answer in time, so nobody knows.
    Silence,
}

/// How it ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Ending {
    /// All leases were given back after use.
    GivenBack,
    /// Somebody else held `key` for longer than the run could wait.
    Busy {
        /// What is held.
        key: String,
        /// By whom.
        holder: String,
    },
    /// The bucket did not answer for longer than the run could wait.
    Silence,
    /// A lease could not be renewed in time; the run had to stop.
    Lost {
        /// Which.
        key: String,
    },
}

/// A lease that is held.
#[derive(Clone, Debug)]
struct Hold {
    key: String,
    revision: u64,
    /// When it was last asked for, by a request that was answered.
    asked: Instant,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Phase {
    Taking,
    Resting(Instant),
    Holding,
    /// A lease was lost: what is left is kept until the run has stopped.
    Stopping(Ending),
    /// Afterwards the next try, or the end.
    GivingBack(Option<Ending>),
    Over(Ending),
}

/// Whoever wants leases for one run.
pub struct Lessee {
    keys: Vec<String>,
    patience: Instant,
    held: Vec<Hold>,
    /// When entries were last asked for whose removal was not answered: they may still be there, as old as that.
    left: BTreeMap<String, Instant>,
    phase: Phase,
    asked: Option<(Ask, Instant)>,
    /// When the entry under way was first asked for: it may have been stored then.
    first_asked: Option<Instant>,
    last: Ending,
    dice: Dice,
}

impl Lessee {
    /// Wants all of `keys`, and gives up at `patience`. `seed` tells it apart from others, so that they do not rest for the same time.
    pub fn new(mut keys: Vec<String>, patience: Instant, seed: u64) -> Self {
        keys.sort_unstable();
        keys.dedup();
        Self {
            keys,
            patience,
            held: Vec::new(),
            left: BTreeMap::new(),
            phase: Phase::Taking,
            asked: None,
            first_asked: None,
            last: Ending::Silence,
            dice: Dice::new(seed, &["lease"], 0),
        }
    }

    /// What to ask now. `None` while a request is under way, and while there is nothing to ask.
    pub fn poll(&mut self, now: Instant) -> Option<Ask> {
        if self.asked.is_some() {
            return None;
        }
        self.advance(now);
        let ask = match &self.phase {
            Phase::Taking => self.renewal(now).or_else(|| {
                let key = self.keys.get(self.held.len())?;
                self.first_asked.get_or_insert(now);
                Some(Ask::Create(key.clone()))
            }),
            Phase::Holding => self.renewal(now),
            Phase::GivingBack(_) => {
                let hold = self.held.last();
                hold.map(|hold| Ask::Remove(hold.key.clone(), hold.revision))
            }
            Phase::Resting(_) | Phase::Stopping(_) | Phase::Over(_) => None,
        }?;
        self.asked = Some((ask.clone(), now));
        Some(ask)
    }

    /// What came of the request under way.
    pub fn answer(&mut self, answer: Answer, now: Instant) {
        let Some((ask, at)) = self.asked.take() else {
            return;
        };
        match ask {
            Ask::Create(key) => self.created(key, answer, at, now),
            Ask::Renew(key, _) => self.renewed(&key, &answer, at),
            Ask::Remove(key, _) => self.removed(&key, &answer),
        }
        self.advance(now);
    }

    /// Whether the run may load its path.
    pub fn may_load(&self, now: Instant) -> bool {
        now < self.safe_until()
    }

    /// Until when the run may go on loading, unless leases are renewed before.
    pub fn safe_until(&self) -> Instant {
        let ends = self.held.iter().map(|hold| hold.asked + SAFE);
        ends.min()
            .filter(|_| self.phase == Phase::Holding)
            .unwrap_or(Instant::ZERO)
    }

    /// Whether the run has to stop: a lease was lost while it went on. The others are its own until it says [`Lessee::give_back`].
    pub const fn must_stop(&self) -> bool {
        matches!(self.phase, Phase::Stopping(_))
    }

    /// Gives everything back: the run is over, or does not want it any more.
    pub fn give_back(&mut self) {
        if let Phase::Stopping(ending) = &self.phase {
            self.phase = Phase::GivingBack(Some(ending.clone()));
        } else if !matches!(self.phase, Phase::GivingBack(Some(_)) | Phase::Over(_)) {
            self.phase = Phase::GivingBack(Some(Ending::GivenBack));
        }
    }

    /// How it ended, if it has.
    pub const fn ending(&self) -> Option<&Ending> {
        match &self.phase {
            Phase::Over(ending) => Some(ending),
            _ => None,
        }
    }

    /// When to ask [`Lessee::poll`] again, if no request is under way.
    pub fn next_event(&self) -> Option<Instant> {
        let renewals = self.held.iter().map(|hold| hold.asked + RENEWAL);
        match self.phase {
            Phase::Taking | Phase::GivingBack(_) => Some(Instant::ZERO),
            Phase::Resting(until) => Some(until),
            Phase::Holding => renewals.min(),
            Phase::Stopping(_) | Phase::Over(_) => None,
        }
    }

    fn created(&mut self, key: String, answer: Answer, at: Instant, now: Instant) {
        let hold = |revision, asked| Hold {
            key: key.clone(),
            revision,
            asked,
        };
        let left = self.left.get(&key).copied();
        if !matches!(answer, Answer::Gone | Answer::Silence) {
            self.left.remove(&key);
        }
        match answer {
            Answer::Stored(revision) => self.held.push(hold(revision, at)),
            // Too old a one is renewed before it counts.
            Answer::WasStored(revision) => {
                let first = left.or(self.first_asked).unwrap_or(at);
                self.held.push(hold(revision, first));
            }
            Answer::Taken(holder) => {
                self.last = Ending::Busy { key, holder };
                self.rest_or_end(now);
                self.first_asked = None;
            }
            // It may have been stored all the same: the next request will tell.
            Answer::Gone | Answer::Silence => {
                self.last = Ending::Silence;
                if now >= self.patience {
                    self.rest_or_end(now);
                }
                return;
            }
        }
        self.first_asked = None;
    }

    /// One that was not removed is forgotten by the bucket, unless it is wanted again before.
    fn removed(&mut self, key: &str, answer: &Answer) {
        let of_key = |hold: &mut Hold| hold.key == key;
        let hold = self.held.extract_if(.., of_key).next();
        if let (Some(hold), Answer::Silence) = (hold, answer) {
            self.left.insert(hold.key, hold.asked);
        }
    }

    fn renewed(&mut self, key: &str, answer: &Answer, at: Instant) {
        match answer {
            Answer::Stored(revision) | Answer::WasStored(revision) => {
                let is_fresh = matches!(answer, Answer::Stored(_));
                if let Some(hold) = self.held.iter_mut().find(|hold| hold.key == key) {
                    hold.revision = *revision;
                    // Nobody knows which of the earlier requests was the last to be stored: it is renewed at once.
                    if is_fresh {
                        hold.asked = at;
                    }
                }
            }
            Answer::Taken(_) | Answer::Gone => self.lose(key),
            Answer::Silence => {}
        }
    }

    /// What time alone brings about.
    fn advance(&mut self, now: Instant) {
        let expired = self.expired(now);
        match &self.phase {
            Phase::Holding => {
                if let Some(key) = expired {
                    self.lose(&key);
                }
            }
            Phase::Taking if now >= self.patience => self.rest_or_end(now),
            Phase::Taking if expired.is_none() && self.held.len() == self.keys.len() => {
                self.phase = Phase::Holding;
            }
            Phase::Resting(until) if now >= *until => self.phase = Phase::Taking,
            Phase::GivingBack(ending) if self.held.is_empty() => {
                self.phase = match ending {
                    Some(ending) => Phase::Over(ending.clone()),
                    None => Phase::Resting(now + self.rest()),
                };
            }
            _ => {}
        }
    }

    fn lose(&mut self, key: &str) {
        self.held.retain(|hold| hold.key != key);
        let key = key.to_owned();
        match self.phase {
            Phase::Holding => self.phase = Phase::Stopping(Ending::Lost { key }),
            Phase::Taking => {
                self.last = Ending::Lost { key };
                self.phase = Phase::GivingBack(None);
            }
            _ => {}
        }
    }

    fn rest_or_end(&mut self, now: Instant) {
        if self.phase != Phase::Taking {
            return;
        }
        let ending = (now >= self.patience).then(|| self.last.clone());
        self.phase = Phase::GivingBack(ending);
    }

    fn rest(&mut self) -> Duration {
        let more = self.dice.below(u64::try_from(REST.as_nanos()).unwrap_or(0));
        REST + Duration::from_nanos(more)
    }

    fn renewal(&self, now: Instant) -> Option<Ask> {
        let due = |hold: &&Hold| now >= hold.asked + RENEWAL;
        let hold = self.held.iter().filter(due).min_by_key(|hold| hold.asked)?;
        Some(Ask::Renew(hold.key.clone(), hold.revision))
    }

    /// A lease that the bucket may soon forget.
    fn expired(&self, now: Instant) -> Option<String> {
        let is_expired = |hold: &&Hold| now >= hold.asked + SAFE;
        self.held
            .iter()
            .find(is_expired)
            .map(|hold| hold.key.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// How long a run goes on that has to stop.
    const STOPPING: Duration = Duration::from_millis(3_100);

    /// A bucket that forgets, on its own clock.
    #[derive(Default)]
    struct Bucket {
        entries: BTreeMap<String, (usize, u64, Instant)>,
        revision: u64,
    }

    impl Bucket {
        fn ask(&mut self, ask: &Ask, who: usize, now: Instant) -> Answer {
            self.entries.retain(|_, (_, _, at)| now < *at + LENGTH);
            let found = |key: &str| self.entries.get(key).copied();
            let (key, wanted) = match ask {
                Ask::Create(key) => (key, None),
                Ask::Renew(key, revision) | Ask::Remove(key, revision) => (key, Some(*revision)),
            };
            match (found(key), wanted) {
                (None, Some(_)) => return Answer::Gone,
                (Some((holder, ..)), _) if holder != who => {
                    return Answer::Taken(holder.to_string());
                }
                (Some((_, revision, _)), wanted) if wanted != Some(revision) => {
                    return Answer::WasStored(revision);
                }
                _ => {}
            }
            if matches!(ask, Ask::Remove(..)) {
                self.entries.remove(key);
                return Answer::Gone;
            }
            self.revision += 1;
            let entry = (who, self.revision, now);
            self.entries.insert(key.clone(), entry);
            Answer::Stored(self.revision)
        }
    }

    /// A request on its way: when it gets there, when its answer is back; whether each does.
    struct Way {
        ask: Ask,
        there: Instant,
        back: Instant,
        is_lost: [bool; 2],
        answer: Option<Answer>,
    }

    struct Agent {
        lessee: Lessee,
        way: Option<Way>,
        /// How long its run takes once it may load.
        work: Duration,
        began: Option<Instant>,
        /// When its run has ended, for one that had to stop.
        stops: Option<Instant>,
        is_dead: bool,
    }

    struct World {
        bucket: Bucket,
        agents: Vec<Agent>,
        dice: Dice,
        faults: u64,
        /// The bucket answers nobody from the first to the second.
        outage: [Instant; 2],
    }

    impl World {
        fn new(wants: &[Vec<u8>], seed: u64, faults: u64, outage: [Instant; 2]) -> Self {
            let agents = (0_u64..).zip(wants).map(|(number, keys)| Agent {
                lessee: Lessee::new(
                    keys.iter().map(|key| format!("host.{key}")).collect(),
                    Instant::from_millis(600_000),
                    seed.wrapping_add(number),
                ),
                way: None,
                work: Duration::from_secs(5 + number % 7 * 4),
                began: None,
                stops: None,
                is_dead: false,
            });
            Self {
                bucket: Bucket::default(),
                agents: agents.collect(),
                dice: Dice::new(seed, &["world"], 0),
                faults,
                outage,
            }
        }

        fn way(&mut self, ask: Ask, now: Instant) -> Way {
            let mut span = || Duration::from_millis(1 + self.dice.below(300));
            let (there, back) = (span(), span());
            let is_out = (self.outage[0]..self.outage[1]).contains(&now);
            let mut is_lost = || is_out || self.dice.below(100) < self.faults;
            Way {
                ask,
                there: now + there,
                back: now + there + back,
                is_lost: [is_lost(), is_lost()],
                answer: None,
            }
        }

        /// One millisecond of everybody's.
        fn step(&mut self, now: Instant) {
            for who in 0..self.agents.len() {
                let mut way = self.agents[who].way.take();
                if let Some(way) = &mut way
                    && way.answer.is_none()
                    && now >= way.there
                    && !way.is_lost[0]
                {
                    way.answer = Some(self.bucket.ask(&way.ask, who, now));
                }
                if self.agents[who].is_dead {
                    continue;
                }
                // What is lost is given up after two seconds.
                let is_lost = way
                    .as_ref()
                    .is_some_and(|way| way.is_lost[0] || way.is_lost[1]);
                let patience = Duration::from_secs(if is_lost { 2 } else { 0 });
                if let Some(done) = way.take_if(|way| now >= way.back + patience) {
                    let answer = done.answer.filter(|_| !is_lost).unwrap_or(Answer::Silence);
                    self.agents[who].lessee.answer(answer, now);
                }
                let agent = &mut self.agents[who];
                if way.is_none()
                    && let Some(ask) = agent.lessee.poll(now)
                {
                    way = Some(self.way(ask, now));
                }
                let agent = &mut self.agents[who];
                agent.way = way;
                if agent.lessee.may_load(now) {
                    let began = *agent.began.get_or_insert(now);
                    if now > began + agent.work {
                        agent.lessee.give_back();
                    }
                }
                if agent.lessee.must_stop() {
                    let stops = *agent.stops.get_or_insert(now + STOPPING);
                    if now >= stops {
                        agent.lessee.give_back();
                    }
                }
            }
        }

        /// Nobody else loads what somebody loads.
        fn check(&self, now: Instant) {
            let mut loaded = BTreeMap::new();
            for (who, agent) in self.agents.iter().enumerate() {
                let stops = agent.stops.is_some_and(|stops| now < stops);
                if agent.is_dead || !(stops || agent.lessee.may_load(now)) {
                    continue;
                }
                for key in &agent.lessee.keys {
                    let other = loaded.insert(key.clone(), who);
                    assert_eq!(other, None, "{key} is loaded by two at {now}");
                }
            }
        }
    }

    #[test]
    fn everybody_gets_what_all_want_one_after_the_other() {
        let wants = [vec![1, 2], vec![2, 3], vec![3, 1], vec![1, 2, 3]];
        let mut world = World::new(&wants, 1, 0, [Instant::ZERO; 2]);
        for ms in 0..200_000 {
            let now = Instant::from_millis(ms);
            world.step(now);
            world.check(now);
        }
        for agent in &world.agents {
            assert_eq!(agent.lessee.ending(), Some(&Ending::GivenBack));
            assert!(agent.began.is_some());
        }
        assert!(world.bucket.entries.is_empty());
    }

    #[test]
    fn what_a_dead_agent_held_is_free_again_and_an_outage_stops_the_run() {
        let mut world = World::new(&[vec![1], vec![1]], 1, 0, [Instant::ZERO; 2]);
        world.agents[0].work = Duration::from_secs(1_000);
        for ms in 0..100_000 {
            let now = Instant::from_millis(ms);
            // The second one comes later.
            world.agents[1].is_dead = ms < 2_000;
            if ms == 8_000 {
                assert!(world.agents[0].lessee.may_load(now));
                world.agents[0].is_dead = true;
            }
            world.step(now);
            world.check(now);
        }
        let began = world.agents[1].began.unwrap();
        let stored = Instant::from_millis(4_000) + LENGTH;
        assert!(
            began >= stored && began < stored + Duration::from_secs(10),
            "{began}"
        );
        let outage = [Instant::from_millis(4_000), Instant::from_millis(40_000)];
        let mut world = World::new(&[vec![1]], 1, 0, outage);
        world.agents[0].work = Duration::from_secs(1_000);
        (0..30_000).for_each(|ms| world.step(Instant::from_millis(ms)));
        let ending = world.agents[0].lessee.ending();
        assert_eq!(
            ending,
            Some(&Ending::Lost {
                key: "host.1".to_owned()
            })
        );
    }

    #[test]
    fn whoever_waits_too_long_says_for_whom() {
        let mut lessee = Lessee::new(vec!["link.x".to_owned()], Instant::from_millis(100), 1);
        assert_eq!(
            lessee.poll(Instant::ZERO),
            Some(Ask::Create("link.x".to_owned()))
        );
        let later = Instant::from_millis(200);
        lessee.answer(Answer::Taken("run 7".to_owned()), later);
        let (key, holder) = ("link.x".to_owned(), "run 7".to_owned());
        assert_eq!(lessee.ending(), Some(&Ending::Busy { key, holder }));
    }

    #[test]
    fn an_entry_whose_removal_was_not_answered_is_as_old_as_it_is() {
        let at = Instant::from_millis;
        let [a, b] = ["host.a", "host.b"].map(str::to_owned);
        let mut lessee = Lessee::new(vec![a.clone(), b.clone()], at(60_000), 1);
        let told = |lessee: &mut Lessee, asks: Ask, asked, answer, answered| {
            assert_eq!(lessee.poll(at(asked)), Some(asks));
            lessee.answer(answer, at(answered));
        };
        told(
            &mut lessee,
            Ask::Create(a.clone()),
            0,
            Answer::Stored(1),
            10,
        );
        let taken = Answer::Taken("run 7".to_owned());
        told(&mut lessee, Ask::Create(b.clone()), 20, taken, 30);
        told(
            &mut lessee,
            Ask::Remove(a.clone(), 1),
            40,
            Answer::Silence,
            2_040,
        );
        assert_eq!(lessee.poll(at(2_050)), None);
        let was = Answer::WasStored(1);
        told(&mut lessee, Ask::Create(a.clone()), 9_990, was, 9_991);
        told(
            &mut lessee,
            Ask::Renew(a.clone(), 1),
            9_992,
            Answer::Silence,
            11_992,
        );
        assert!(!lessee.may_load(at(11_992)));
        told(
            &mut lessee,
            Ask::Renew(a, 1),
            12_000,
            Answer::Stored(2),
            12_001,
        );
        told(
            &mut lessee,
            Ask::Create(b),
            12_002,
            Answer::Stored(3),
            12_003,
        );
        assert_eq!(lessee.safe_until(), at(12_000) + SAFE);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn two_never_load_the_same_whatever_is_lost_and_whoever_dies(
            wants in proptest::collection::vec(proptest::collection::vec(0_u8..4, 1..4), 2..6),
            seed: u64,
            faults in 0_u64..40,
            begins in 0_u64..60_000,
            lasts in 0_u64..30_000,
            dies in 0_usize..6,
            when in 0_u64..60_000,
        ) {
            let outage = [Instant::from_millis(begins), Instant::from_millis(begins + lasts)];
            let mut world = World::new(&wants, seed, faults, outage);
            for ms in 0..90_000 {
                let now = Instant::from_millis(ms);
                if ms == when && let Some(agent) = world.agents.get_mut(dies) {
                    agent.is_dead = true;
                }
                world.step(now);
                world.check(now);
            }
        }
    }
}
