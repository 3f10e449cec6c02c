use super::*;
use crate::{Loss, Transport};
use Side::{Acceptor, Initiator};
use proptest::prelude::*;

const RTT: Duration = ms(20);

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

const fn turn(side: Side, bytes: u64, wait_ms: u64) -> Turn {
    Turn {
        side,
        bytes,
        wait: ms(wait_ms),
    }
}

fn exchange(turns: &[Turn]) -> Body {
    Body::Sequential {
        turns: turns.to_vec(),
        tail: None,
    }
}

fn isochronous(turns: &[Turn]) -> Body {
    Body::Concurrent {
        turns: turns.to_vec(),
        tails: [None; 2],
    }
}

fn vector(body: Body, largest: [u32; 2]) -> Vector {
    Vector {
        transport: Transport::Udp,
        start: Duration::ZERO,
        ids: [0; 2],
        windows: [0; 2],
        min_rtt: Some(RTT),
        loss: [Loss::NONE; 2],
        mss: Some(largest),
        body,
    }
}

/// What becomes of the datagram of this number: its delay, or nothing if it is lost.
type Fate<'a> = &'a dyn Fn(usize) -> Option<Duration>;

/// A datagram that was sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Sent {
    side: Side,
    at: Duration,
    size: u32,
    is_lost: bool,
}

/// Both ends over a path that delays and loses.
struct Talk {
    vector: Vector,
    ends: [DatagramPlayer; 2],
    over: [Option<Duration>; 2],
    sent: Vec<Sent>,
    /// To whom, when, its turn and octets.
    under_way: Vec<(usize, Instant, Option<u32>, u32)>,
}

impl Talk {
    fn play(vector: Vector, fate: Fate<'_>) -> Self {
        let mut talk = Self {
            ends: Side::BOTH.map(|side| DatagramPlayer::new(&vector, side)),
            vector,
            over: [None; 2],
            sent: Vec::new(),
            under_way: Vec::new(),
        };
        let mut now = Instant::ZERO;
        for end in &mut talk.ends {
            end.handle_begun(&talk.vector, now);
        }
        while let Some(next) = talk.step(now, fate) {
            assert!(next > now, "nothing is done by {next:?}");
            now = next;
        }
        talk
    }

    /// Everything at one moment; when the next one is.
    fn step(&mut self, now: Instant, fate: Fate<'_>) -> Option<Instant> {
        let (due, later) = self.under_way.iter().partition(|one| one.1 <= now);
        self.under_way = later;
        for (to, _, turn, octets) in due {
            self.ends[to].handle_heard(&self.vector, turn, octets.into(), now);
        }
        for place in 0..2 {
            self.look_after(place, now, fate);
        }
        let waiting = self.ends.iter().zip(self.over);
        let waiting = waiting.filter(|(_, over)| over.is_none());
        let timeouts = waiting.filter_map(|(end, _)| end.next_timeout());
        let arrivals = self.under_way.iter().map(|one| one.1);
        timeouts.chain(arrivals).min()
    }

    fn look_after(&mut self, place: usize, now: Instant, fate: Fate<'_>) {
        let end = &mut self.ends[place];
        end.handle_timeout(&self.vector, now);
        while let Some(train) = end.poll_send(&self.vector, now) {
            let size = train.sizes().next().unwrap();
            let delay = fate(self.sent.len());
            self.sent.push(Sent {
                side: Side::BOTH[place],
                at: now.since(Instant::ZERO),
                size,
                is_lost: delay.is_none(),
            });
            let turn = (size as usize >= LABEL).then_some(train.turn);
            let comes = delay.map(|delay| (1 - place, now + delay, turn, size));
            self.under_way.extend(comes);
            end.handle_sent(&self.vector, 1, now);
        }
        if end.is_over(&self.vector, now) {
            self.over[place].get_or_insert_with(|| now.since(Instant::ZERO));
        }
    }

    fn times(&self) -> Vec<(Side, Duration)> {
        self.sent.iter().map(|sent| (sent.side, sent.at)).collect()
    }

    fn octets(&self, side: Side, lost: bool) -> u64 {
        let sent = self.sent.iter();
        let sent = sent.filter(|sent| sent.side == side && sent.is_lost == lost);
        sent.map(|sent| u64::from(sent.size)).sum()
    }
}

#[test]
fn a_turn_is_taken_after_the_wait_that_follows_the_turn_before() {
    let body = exchange(&[
        turn(Initiator, 40, 0),
        turn(Acceptor, 2_500, 30),
        turn(Initiator, 3, 5),
        turn(Initiator, 50, 700),
        turn(Acceptor, 10, 0),
    ]);
    let talk = Talk::play(vector(body, [50, 1_000]), &|_| Some(RTT / 2));
    let expected = [
        (Initiator, 0),
        (Acceptor, 40),
        (Acceptor, 40),
        (Acceptor, 40),
        (Initiator, 55),
        (Initiator, 755),
        (Acceptor, 765),
    ];
    assert_eq!(talk.times(), expected.map(|(side, at)| (side, ms(at))));
    let sizes: Vec<_> = talk.sent.iter().map(|sent| sent.size).collect();
    assert_eq!(sizes, [40, 1_000, 1_000, 500, 3, 50, 10]);
    assert_eq!(talk.over, [Some(ms(775)), Some(ms(765))]);
}

#[test]
fn the_ends_of_an_isochronous_flow_have_clocks_of_their_own() {
    let body = isochronous(&[
        turn(Initiator, 160, 0),
        turn(Acceptor, 160, 7),
        turn(Initiator, 160, 20),
        turn(Acceptor, 160, 20),
        turn(Initiator, 160, 20),
    ]);
    let vector = vector(body, [160; 2]);
    let talk = Talk::play(vector.clone(), &|_| Some(RTT / 2));
    let expected = [
        (Initiator, 0),
        (Acceptor, 7),
        (Initiator, 20),
        (Acceptor, 27),
        (Initiator, 40),
    ];
    assert_eq!(talk.times(), expected.map(|(side, at)| (side, ms(at))));
    assert_eq!(talk.over, [Some(ms(40)), Some(ms(50))]);
    // Whoever is late with one is not late with the next.
    let mut end = DatagramPlayer::new(&vector, Initiator);
    end.handle_begun(&vector, Instant::ZERO);
    end.handle_sent(&vector, 1, Instant::ZERO + ms(13));
    assert_eq!(end.due(), Some(Instant::ZERO + ms(20)));
}

#[test]
fn what_is_lost_is_given_up_and_the_exchange_goes_on() {
    let body = exchange(&[
        turn(Initiator, 40, 0),
        turn(Acceptor, 100, 30),
        turn(Initiator, 41, 5),
        turn(Acceptor, 101, 30),
    ]);
    let without = |lost: usize| {
        let fate = move |number| (number != lost).then_some(RTT / 2);
        Talk::play(vector(body.clone(), [41, 101]), &fate)
    };
    let first = without(0);
    // The acceptor gives the request up after 1,020 ms and answers; then all is as ever.
    let expected = [
        (Initiator, 0),
        (Acceptor, 1_050),
        (Initiator, 1_065),
        (Acceptor, 1_105),
    ];
    assert_eq!(first.times(), expected.map(|(side, at)| (side, ms(at))));
    assert_eq!(first.ends[0].unheard(), 0);
    assert_eq!(first.ends[1].unheard(), 40);
    // The answer is lost: the acceptor goes on first, and the initiator with it.
    let second = without(1);
    let expected = [
        (Initiator, 0),
        (Acceptor, 40),
        (Acceptor, 1_095),
        (Initiator, 1_110),
    ];
    assert_eq!(second.times(), expected.map(|(side, at)| (side, ms(at))));
    assert_eq!(second.ends[0].unheard(), 100);
    assert_eq!(second.ends[1].unheard(), 0);
}

#[test]
fn a_late_datagram_of_a_turn_given_up_is_none_of_the_next() {
    let body = exchange(&[turn(Initiator, 40, 0), turn(Initiator, 40, 0)]);
    let vector = vector(body, [40; 2]);
    let mut end = DatagramPlayer::new(&vector, Acceptor);
    end.handle_begun(&vector, Instant::ZERO);
    let later = end.next_timeout().unwrap();
    end.handle_timeout(&vector, later);
    end.handle_heard(&vector, Some(0), 40, later);
    assert!(!end.is_over(&vector, later));
    assert_eq!(end.unheard(), 40);
    end.handle_heard(&vector, Some(1), 40, later);
    assert!(end.is_over(&vector, later));
}

#[test]
fn labels_say_turns_and_a_short_datagram_has_none() {
    assert_eq!(labelled(&label(70_000)), Some(70_000));
    assert_eq!(labelled(&[1, 2, 3]), None);
    let body = exchange(&[turn(Initiator, 2, 0)]);
    let vector = vector(body, [2, 0]);
    let mut end = DatagramPlayer::new(&vector, Acceptor);
    end.handle_begun(&vector, Instant::ZERO);
    // Nor does a label count that the flow cannot have.
    end.handle_heard(&vector, Some(9), 2, Instant::ZERO);
    assert!(end.is_over(&vector, Instant::ZERO));
}

fn any_vector() -> impl Strategy<Value = Vector> {
    let side = prop_oneof![Just(Initiator), Just(Acceptor)];
    let turn =
        (side, 1_u64..4_000, 0_u64..2_000).prop_map(|(side, bytes, wait)| turn(side, bytes, wait));
    let turns = prop::collection::vec(turn, 0..20);
    let largest = prop::array::uniform2(0_u32..1_500);
    (turns, any::<bool>(), largest).prop_map(|(turns, is_exchange, largest)| {
        let body = if is_exchange {
            exchange(&turns)
        } else {
            isochronous(&turns)
        };
        let largest = largest.map(|largest| if largest == 0 { 0 } else { largest.max(20) });
        vector(body, largest)
    })
}

proptest! {
    #[test]
    fn without_losses_all_is_heard_in_whatever_order(vector in any_vector(), delays in prop::collection::vec(1_u64..20, 50)) {
        let fate = |number: usize| Some(ms(delays[number % delays.len()]));
        let talk = Talk::play(vector.clone(), &fate);
        for side in Side::BOTH {
            prop_assert!(talk.over[side.index()].is_some());
            prop_assert_eq!(talk.ends[side.index()].unheard(), 0);
            prop_assert_eq!(talk.octets(side, false), vector.body.bytes(side));
            let sent = talk.sent.iter().filter(|sent| sent.side == side).count();
            prop_assert_eq!(sent as u64, datagrams(&vector, side));
        }
        // Nothing was said before its time: each end's own waits have passed.
        for side in Side::BOTH {
            let turns = vector.body.turns().iter().filter(|turn| turn.side == side);
            let waits: Duration = turns.map(|turn| turn.wait).sum();
            let last = talk.sent.iter().rfind(|sent| sent.side == side);
            prop_assert!(last.is_none_or(|last| last.at >= waits));
        }
    }

    #[test]
    fn whatever_is_lost_both_ends_say_all_and_end(vector in any_vector(), fates in prop::collection::vec(prop::option::of(1_u64..3_000), 1..50)) {
        let fate = |number: usize| fates[number % fates.len()].map(ms);
        let talk = Talk::play(vector.clone(), &fate);
        let turns = vector.body.turns();
        let waits: Duration = turns.iter().map(|turn| turn.wait).sum();
        // Each turn may cost a patience, and each of its datagrams may come late.
        let longest = waits + (u32::try_from(talk.sent.len() + turns.len()).unwrap() + 1) * 3 * (ms(3_000) + PATIENCE + RTT);
        for side in Side::BOTH {
            let lost = talk.octets(side, true);
            prop_assert_eq!(talk.octets(side, false) + lost, vector.body.bytes(side));
            prop_assert_eq!(talk.ends[side.other().index()].unheard(), lost);
            prop_assert!(talk.over[side.index()].unwrap() <= longest);
        }
    }
}
