use super::*;
use crate::{Loss, Transport};
use Side::{Acceptor, Initiator};
use proptest::prelude::*;

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

fn vector(body: Body) -> Vector {
    Vector {
        transport: Transport::Tcp,
        start: Duration::ZERO,
        ids: [0; 2],
        windows: [65_535; 2],
        min_rtt: Some(ms(20)),
        loss: [Loss::NONE; 2],
        mss: None,
        body,
    }
}

/// Both ends over a path of this one-way delay that carries `piece` octets at a time.
struct Talk {
    vector: Vector,
    ends: [Player; 2],
    now: Instant,
    /// To whom, when, what: octets, or the end of them.
    under_way: Vec<(usize, Instant, u64)>,
    closed: [Option<Instant>; 2],
    sent: Vec<(Side, Duration)>,
    answered: Vec<Answered>,
    delay: Duration,
    piece: u64,
}

impl Talk {
    fn play(body: Body, delay: Duration, piece: u64) -> Self {
        let vector = vector(body);
        let ends = Side::BOTH.map(|side| Player::new(&vector, side));
        let mut talk = Self {
            vector,
            ends,
            now: Instant::ZERO,
            under_way: Vec::new(),
            closed: [None; 2],
            sent: Vec::new(),
            answered: Vec::new(),
            delay,
            piece,
        };
        for end in &mut talk.ends {
            end.handle_established(&talk.vector, talk.now);
        }
        while talk.step() {}
        talk
    }

    /// Everything at one moment, then the next; false when nothing more happens.
    fn step(&mut self) -> bool {
        for place in 0..2 {
            self.speak(place);
        }
        let timeouts = self
            .ends
            .iter()
            .filter_map(|end| end.next_timeout(self.now));
        let arrivals = self.under_way.iter().map(|&(_, at, _)| at);
        let Some(next) = timeouts.chain(arrivals).min() else {
            return false;
        };
        assert!(next >= self.now);
        self.now = next;
        let (due, later) = self.under_way.iter().partition(|&&(_, at, _)| at <= next);
        self.under_way = later;
        for (to, _, octets) in due {
            let end: &mut Player = &mut self.ends[to];
            if octets == 0 {
                end.handle_closed(&self.vector, next);
            } else {
                end.handle_heard(&self.vector, octets, next).unwrap();
            }
            self.answered.extend(end.poll_answered());
        }
        true
    }

    fn speak(&mut self, place: usize) {
        let end = &mut self.ends[place];
        let there = self.now + self.delay;
        loop {
            let octets = end.poll_send(&self.vector, self.now).min(self.piece);
            if octets == 0 {
                break;
            }
            self.sent.push((end.side, self.now.since(Instant::ZERO)));
            end.handle_sent(&self.vector, octets, self.now);
            self.under_way.push((1 - place, there, octets));
        }
        if end.poll_close(self.now) {
            self.closed[place] = Some(self.now);
            self.under_way.push((1 - place, there, 0));
        }
    }

    fn is_over(&self) -> bool {
        let complete = self.ends.iter().all(|end| end.is_complete(&self.vector));
        complete && self.closed.iter().all(Option::is_some)
    }
}

fn sequential(turns: &[Turn], tail: Option<Duration>) -> Body {
    Body::Sequential {
        turns: turns.to_vec(),
        tail,
    }
}

/// Holds tmix/turns, tmix/response-time.
#[test]
fn an_end_waits_for_all_of_the_turn_before_and_then_its_own_time() {
    let turns = [
        turn(Initiator, 300, 5),
        turn(Acceptor, 2_500, 600),
        turn(Initiator, 10, 0),
        turn(Acceptor, 1, 0),
    ];
    let talk = Talk::play(sequential(&turns, Some(ms(30))), ms(10), 1_000);
    assert!(talk.is_over());
    let times: Vec<_> = talk.sent.iter().map(|&(side, at)| (side, at)).collect();
    let expected = [
        (Initiator, ms(5)),
        (Acceptor, ms(615)),
        (Acceptor, ms(615)),
        (Acceptor, ms(615)),
        (Initiator, ms(625)),
        (Acceptor, ms(635)),
    ];
    assert_eq!(times, expected);
    let response_times: Vec<_> = talk
        .answered
        .iter()
        .map(|a| a.answered.since(a.asked))
        .collect();
    assert_eq!(response_times, [ms(620), ms(20)]);
    let epochs: Vec<_> = talk
        .answered
        .iter()
        .map(|a| (a.epoch, a.request, a.response))
        .collect();
    assert_eq!(epochs, [(0, 300, 2_500), (1, 10, 1)]);
    // The tail begins with the last octet; the acceptor closes when it hears of it.
    let closed = talk.closed.map(|at| at.unwrap().since(Instant::ZERO));
    assert_eq!(closed, [ms(675), ms(685)]);
}

#[test]
fn one_end_may_speak_twice_and_the_other_tells_its_turns_apart_by_counting() {
    let turns = [
        turn(Acceptor, 5, 0),
        turn(Acceptor, 5, 700),
        turn(Initiator, 7, 0),
        turn(Initiator, 7, 0),
        turn(Acceptor, 9, 0),
    ];
    let talk = Talk::play(sequential(&turns, None), ms(1), 4);
    assert!(talk.is_over());
    let epochs: Vec<_> = talk.answered.iter().map(|a| (a.epoch, a.request)).collect();
    // The greetings are epochs without a request, the first question one without an answer.
    assert_eq!(epochs, [(3, 7)]);
}

/// Holds tmix/independent-ends.
#[test]
fn the_ends_of_a_concurrent_connection_do_not_wait_for_each_other() {
    let body = Body::Concurrent {
        turns: vec![
            turn(Initiator, 50_000, 0),
            turn(Acceptor, 8, 3),
            turn(Acceptor, 8, 600),
            turn(Initiator, 4, 900),
        ],
        tails: [Some(ms(1)), Some(ms(2))],
    };
    let talk = Talk::play(body, ms(100), 50_000);
    assert!(talk.is_over());
    let expected = [
        (Initiator, ms(0)),
        (Acceptor, ms(3)),
        (Acceptor, ms(603)),
        (Initiator, ms(900)),
    ];
    assert_eq!(talk.sent, expected);
    assert!(talk.answered.is_empty());
    let closed = talk.closed.map(|at| at.unwrap().since(Instant::ZERO));
    assert_eq!(closed, [ms(901), ms(605)]);
}

#[test]
fn more_than_the_vector_has_is_refused_and_not_counted() {
    let vector = vector(sequential(&[turn(Initiator, 3, 0)], None));
    let mut end = Player::new(&vector, Acceptor);
    end.handle_established(&vector, Instant::ZERO);
    assert_eq!(end.handle_heard(&vector, 4, Instant::ZERO), Err(TooMuch(1)));
    assert_eq!(end.expected(), 3);
    end.handle_heard(&vector, 3, Instant::ZERO).unwrap();
    assert!(end.is_complete(&vector));
}

fn any_body() -> impl Strategy<Value = Body> {
    let side = prop_oneof![Just(Initiator), Just(Acceptor)];
    let turn =
        (side, 1_u64..20_000, 0_u64..2_000).prop_map(|(side, bytes, wait)| turn(side, bytes, wait));
    let turns = prop::collection::vec(turn, 0..20);
    (turns, any::<bool>(), 0_u64..500).prop_map(|(turns, is_sequential, tail)| {
        if is_sequential {
            Body::Sequential {
                turns,
                tail: Some(ms(tail)),
            }
        } else {
            Body::Concurrent {
                turns,
                tails: [Some(ms(tail)), None],
            }
        }
    })
}

proptest! {
    /// Holds tmix/turns.
    #[test]
    fn every_talk_comes_to_its_end_and_says_all(body in any_body(), delay in 0_u64..300, piece in 1_000_u64..30_000) {
        let expected: u64 = body.turns().iter().map(|turn| turn.bytes.div_ceil(piece)).sum();
        let talk = Talk::play(body.clone(), ms(delay), piece);
        prop_assert!(talk.is_over());
        prop_assert_eq!(talk.sent.len() as u64, expected);
        let asked = body.epochs().filter(|epoch| epoch.a > 0 && epoch.b > 0).count();
        prop_assert_eq!(talk.answered.len(), asked);
        for (answered, (place, epoch)) in talk.answered.iter().zip(
            body.epochs().enumerate().filter(|(_, epoch)| epoch.a > 0 && epoch.b > 0),
        ) {
            prop_assert_eq!(answered.epoch as usize, place);
            prop_assert_eq!((answered.request, answered.response), (epoch.a, epoch.b));
            prop_assert!(answered.answered.since(answered.asked) >= 2 * ms(delay) + epoch.ta);
        }
    }
}
