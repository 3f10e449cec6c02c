//! The service over paths that answer as they are told, in virtual time.

use super::*;
use proptest::prelude::*;
use std::time::Duration;

const fn offer(
    what: &'static str,
    estimator: &'static str,
    kilobytes: u64,
    seconds: u64,
    pct: f64,
) -> Offer {
    Offer {
        what,
        estimator,
        typical: Cost {
            octets: kilobytes * 1_000,
            time: Duration::from_secs(seconds),
            interval_pct: Some(pct),
        },
        is_usual: pct < 25.0,
    }
}

const OFFERS: [Offer; 4] = [
    offer("rtt", "stream", 20, 2, 3.0),
    offer("available", "careful", 9_000, 30, 4.0),
    offer("available", "fast", 3_000, 8, 8.0),
    offer("available", "cheap", 1_000, 60, 40.0),
];
const LIMITS: Limits = Limits {
    queries: 12,
    of_client: 5,
    measurements: 2,
};

const WISH: Wish = Wish {
    path: 0,
    what: "available",
    max_age: Duration::from_secs(10),
    within_pct: None,
    most_octets: None,
    estimator: None,
    timeout: Duration::from_secs(60),
};
const RTT: Wish = Wish {
    what: "rtt",
    ..WISH
};

/// Paths on which each measurement takes as long as it typically does.
struct World {
    service: Service<()>,
    now: Instant,
    /// Measurements under way: the path, the offer, and when it ends.
    under_way: Vec<(Path, usize, Instant)>,
    /// All that were begun.
    begun: Vec<(Path, &'static str)>,
    told: Vec<(u64, News<()>)>,
    /// What paths say: the figure, and its interval in percent.
    value: f64,
    pct: f64,
}

impl World {
    fn new() -> Self {
        Self {
            service: Service::new(OFFERS.to_vec(), LIMITS),
            now: Instant::from_millis(1),
            under_way: Vec::new(),
            begun: Vec::new(),
            told: Vec::new(),
            value: 5.0,
            pct: 3.0,
        }
    }

    fn ask(&mut self, client: u64, wish: Wish) -> Result<u64, Refusal> {
        self.watch(client, wish, When::Once)
    }

    fn watch(&mut self, client: u64, wish: Wish, when: When) -> Result<u64, Refusal> {
        let taken = self.service.ask(client, wish, when, self.now);
        self.act();
        taken
    }

    fn act(&mut self) {
        while let Some(action) = self.service.poll_action() {
            match action {
                Action::Start { path, offer, .. } => {
                    assert!(self.under_way.iter().all(|(other, ..)| *other != path));
                    let Offer {
                        estimator, typical, ..
                    } = OFFERS[offer];
                    self.begun.push((path, estimator));
                    self.under_way.push((path, offer, self.now + typical.time));
                    assert!(self.under_way.len() <= LIMITS.measurements);
                }
                Action::Stop { path } => {
                    self.under_way.retain(|(other, ..)| *other != path);
                    let stopped = Failure::Other("stopped".to_owned());
                    self.service.handle_failure(path, &stopped, self.now);
                }
                Action::Tell { query, news } => self.told.push((query, news)),
            }
        }
    }

    fn figure(&self) -> Figure {
        let half = self.value * self.pct / 100.0;
        Figure {
            value: Some(self.value),
            low: Some(self.value - half),
            high: Some(self.value + half),
            conclusive: true,
        }
    }

    /// Lets time pass.
    fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            let ends = self.under_way.iter().map(|(.., ends)| *ends).min();
            let due = self.service.next_timeout();
            let next = ends.into_iter().chain(due).min();
            let Some(next) = next.filter(|next| *next <= end) else {
                break;
            };
            self.now = self.now.max(next);
            if ends == Some(next) {
                let place = self.under_way.iter().position(|(.., ends)| *ends == next);
                let (path, offer, _) = self.under_way.remove(place.unwrap());
                let estimate = Estimate {
                    figure: self.figure(),
                    octets: OFFERS[offer].typical.octets,
                    took: OFFERS[offer].typical.time,
                    more: (),
                };
                self.service.handle_estimate(path, estimate, self.now);
            } else {
                self.service.handle_timeout(self.now);
            }
            self.act();
        }
        self.now = end;
    }

    fn pass_s(&mut self, seconds: u64) {
        self.pass(Duration::from_secs(seconds));
    }

    /// What a query was told: a word for each.
    fn words(&self, query: u64) -> Vec<String> {
        let told = self.told.iter().filter(|(number, _)| *number == query);
        let word = |(_, news): &(u64, News<()>)| match news {
            News::Estimate {
                is_shared: true, ..
            } => "shared".to_owned(),
            News::Estimate { .. } => "own".to_owned(),
            News::Crossed { side, bound, .. } => format!("{side:?} {bound}"),
            News::Refused(Refusal::Quality(best)) => format!("{:?}", best.map(|best| best.0)),
            News::Refused(refusal) => format!("{refusal:?}"),
        };
        told.map(word).collect()
    }
}

/// Holds manager/what-not-how.
#[test]
fn two_that_want_the_same_share_one_measurement_and_a_third_what_is_kept() {
    let mut world = World::new();
    let first = world.ask(1, WISH).unwrap();
    world.pass_s(4);
    let second = world.ask(2, WISH).unwrap();
    world.pass_s(10);
    let third = world.ask(3, WISH).unwrap();
    assert_eq!(world.begun, [(0, "fast")]);
    assert_eq!(world.words(first), ["own"]);
    assert_eq!(world.words(second), ["shared"]);
    assert_eq!(world.words(third), ["shared"], "six seconds old");
    world.pass_s(5);
    world.ask(3, WISH).unwrap();
    assert_eq!(world.begun.len(), 2, "eleven seconds old is too old");
}

/// Holds manager/quality, manager/what-not-how.
#[test]
fn the_cheapest_is_chosen_that_is_good_enough() {
    for (within_pct, estimator, chosen) in [
        (None, None, "fast"),
        (Some(45.0), None, "cheap"),
        (Some(10.0), None, "fast"),
        (Some(5.0), None, "careful"),
        (None, Some("cheap"), "cheap"),
    ] {
        let mut world = World::new();
        let wish = Wish {
            within_pct,
            estimator,
            ..WISH
        };
        world.ask(1, wish).unwrap();
        assert_eq!(world.begun, [(0, chosen)]);
    }
}

#[test]
fn what_cannot_be_had_is_refused_at_once_with_the_best_there_is() {
    let mut world = World::new();
    let narrow = Wish {
        within_pct: Some(1.0),
        ..WISH
    };
    let refused = world.ask(1, narrow).unwrap_err();
    assert!(matches!(refused, Refusal::Quality(Some(("careful", _)))));
    let free = Wish {
        most_octets: Some(0),
        ..WISH
    };
    assert!(matches!(world.ask(1, free), Err(Refusal::Quality(_))));
    let hurried = Wish {
        timeout: Duration::from_secs(7),
        ..WISH
    };
    assert!(matches!(world.ask(1, hurried), Err(Refusal::Quality(_))));
    let odd = Wish {
        what: "colour",
        ..WISH
    };
    assert_eq!(world.ask(1, odd), Err(Refusal::What));
    assert!(world.begun.is_empty());
    world.ask(1, WISH).unwrap();
    world.pass_s(9);
    let kept = world.ask(1, free).unwrap();
    assert_eq!(world.words(kept), ["shared"], "what is kept costs nothing");
}

#[test]
fn what_turns_out_too_vague_is_measured_by_something_better() {
    let mut world = World::new();
    world.pct = 9.0;
    let wish = Wish {
        within_pct: Some(8.0),
        ..WISH
    };
    let query = world.ask(1, wish).unwrap();
    world.pass_s(9);
    assert_eq!(world.begun, [(0, "fast"), (0, "careful")]);
    assert!(world.words(query).is_empty());
    world.pct = 5.0;
    world.pass_s(30);
    assert_eq!(world.words(query), ["own"]);
    // What that taught is forgotten after a while.
    world.pass_s(5);
    world
        .ask(
            1,
            Wish {
                max_age: Duration::ZERO,
                ..wish
            },
        )
        .unwrap();
    assert_eq!(world.begun.last(), Some(&(0, "careful")));
    world.pass_s(700);
    world.ask(1, wish).unwrap();
    assert_eq!(world.begun.last(), Some(&(0, "fast")));
}

#[test]
fn paths_are_measured_side_by_side_but_not_more_than_allowed() {
    let mut world = World::new();
    for path in 0..3 {
        world.ask(path as u64, Wish { path, ..RTT }).unwrap();
        world.ask(path as u64, Wish { path, ..WISH }).unwrap();
    }
    assert_eq!(world.begun, [(0, "stream"), (1, "stream")]);
    world.pass_s(60);
    assert_eq!(world.begun.len(), 6);
    assert_eq!(world.told.len(), 6);
}

#[test]
fn clients_and_queries_are_counted() {
    let mut world = World::new();
    for _ in 0..LIMITS.of_client {
        world.ask(1, WISH).unwrap();
    }
    assert_eq!(world.ask(1, WISH), Err(Refusal::Queries(5)));
    for client in 2..9 {
        world.ask(client, WISH).unwrap();
    }
    assert_eq!(world.ask(9, WISH), Err(Refusal::Queries(12)));
    assert_eq!(world.begun.len(), 1);
    world.pass_s(9);
    assert_eq!((world.told.len(), world.service.open()), (12, 0));
    assert_eq!(world.service.counters().refused, 2);
    world.ask(1, WISH).unwrap();
}

#[test]
fn who_waits_too_long_is_told_and_what_nobody_wants_is_stopped() {
    let mut world = World::new();
    let slow = Wish {
        estimator: Some("careful"),
        ..WISH
    };
    let first = world.ask(1, slow).unwrap();
    let second = world
        .ask(
            2,
            Wish {
                timeout: Duration::from_secs(20),
                ..WISH
            },
        )
        .unwrap();
    world.pass_s(25);
    assert_eq!(
        world.words(second),
        ["Timeout"],
        "another's measurement was in the way"
    );
    world.service.handle_gone(first);
    world.act();
    assert!(world.under_way.is_empty());
    world.ask(3, WISH).unwrap();
    assert_eq!(world.begun, [(0, "careful"), (0, "fast")]);
}

#[test]
fn a_budget_that_is_spent_is_told_to_all_who_wait() {
    let mut world = World::new();
    let queries = [1, 2].map(|client| world.ask(client, WISH).unwrap());
    let watch = world.watch(3, WISH, When::Every(Duration::from_secs(30), None));
    world.under_way.clear();
    world
        .service
        .handle_failure(0, &Failure::Budget(12_500), world.now);
    world.act();
    for query in queries {
        assert_eq!(world.words(query), ["Failed(Budget(12500))"]);
    }
    world.pass_s(60);
    assert_eq!(
        world.words(watch.unwrap()),
        ["Failed(Budget(12500))", "own"]
    );
}

#[test]
fn too_dear_is_told_only_to_who_set_that_bound_or_a_lower_one() {
    let mut world = World::new();
    let bound = Wish {
        most_octets: Some(4_000_000),
        ..WISH
    };
    let first = world.ask(1, bound).unwrap();
    let second = world.ask(2, WISH).unwrap();
    let ample = Wish {
        most_octets: Some(40_000_000),
        ..WISH
    };
    let third = world.ask(3, ample).unwrap();
    world.under_way.clear();
    world
        .service
        .handle_failure(0, &Failure::Overhead, world.now);
    world.act();
    world.pass_s(9);
    assert_eq!(world.words(first), ["Failed(Overhead)"]);
    assert_eq!(world.words(second), ["own"]);
    assert_eq!(world.words(third), ["shared"]);
}

#[test]
fn watches_that_are_always_overdue_let_others_have_their_turn() {
    let mut world = World::new();
    let max_age = Duration::from_millis(500);
    let every = When::Every(Duration::from_secs(1), None);
    world.watch(1, Wish { max_age, ..RTT }, every).unwrap();
    world.watch(2, Wish { max_age, ..WISH }, every).unwrap();
    world.pass_s(20);
    let careful = Wish {
        estimator: Some("careful"),
        ..WISH
    };
    let newcomer = world.ask(3, careful).unwrap();
    world.pass_s(55);
    assert_eq!(world.words(newcomer), ["own"]);
}

/// Holds manager/queries.
#[test]
fn who_watches_is_told_each_time_and_shares_with_others() {
    let mut world = World::new();
    let every = When::Every(Duration::from_secs(30), None);
    let wish = Wish {
        max_age: Duration::from_secs(15),
        ..RTT
    };
    let first = world.watch(1, wish, every).unwrap();
    world.pass_s(10);
    let second = world.watch(2, wish, every).unwrap();
    world.pass_s(110);
    assert_eq!(world.words(first), ["own", "own", "own", "own"]);
    assert_eq!(
        world.words(second),
        ["shared", "shared", "shared", "shared"]
    );
    world.service.handle_gone(first);
    world.service.handle_gone(second);
    world.act();
    let begun = world.begun.len();
    world.pass_s(600);
    assert_eq!(world.begun.len(), begun);
}

/// Holds manager/queries.
#[test]
fn only_what_is_surely_on_the_other_side_is_a_crossing() {
    let mut world = World::new();
    let bounds = Bounds {
        upper: 20.0,
        lower: 20.0,
    };
    let every = When::Every(Duration::from_secs(5), Some(bounds));
    let query = world
        .watch(
            1,
            Wish {
                max_age: Duration::ZERO,
                ..RTT
            },
            every,
        )
        .unwrap();
    // With an interval of 10 %: 19 reaches up to 20.9, and 21 down to 18.9.
    world.pct = 10.0;
    for value in [
        10.0, 12.0, 19.0, 21.0, 30.0, 21.0, 19.0, 25.0, 10.0, 18.5, 8.0, 40.0,
    ] {
        world.value = value;
        world.pass_s(5);
    }
    assert_eq!(
        world.words(query),
        ["own", "Above 20", "Below 20", "Above 20"]
    );
}

#[test]
fn between_two_bounds_nothing_changes() {
    let mut crossing = Crossing::new(Bounds {
        upper: 20.0,
        lower: 10.0,
    });
    let mut at = |value: f64| {
        crossing.handle(&Figure {
            value: Some(value),
            conclusive: true,
            ..Figure::default()
        })
    };
    assert_eq!(at(15.0), None);
    assert_eq!(at(21.0), Some(Side::Above));
    assert_eq!(at(11.0), None);
    assert_eq!(at(9.0), Some(Side::Below));
    assert_eq!(at(19.0), None);
    let mut doubtful = crossing;
    let unknown = Figure {
        value: Some(99.0),
        ..Figure::default()
    };
    assert_eq!(doubtful.handle(&unknown), None);
}

/// What may happen, and to whom.
#[derive(Clone, Debug)]
enum Event {
    Ask(u64, Wish, When),
    Gone(usize),
    Fail(Failure),
    Pass(u64),
}

fn event() -> impl Strategy<Value = Event> {
    let wish = (
        0..3_usize,
        prop::sample::select(vec!["rtt", "available", "colour"]),
        prop::option::of(0.5..60.0),
        prop::option::of(0..10_000_000_u64),
        1..80_u64,
    );
    let wish = wish.prop_map(|(path, what, within_pct, most_octets, seconds)| Wish {
        path,
        what,
        within_pct,
        most_octets,
        timeout: Duration::from_secs(seconds),
        ..WISH
    });
    let bounds = prop::option::of((0.0..10.0).prop_map(|lower| Bounds {
        upper: lower + 1.0,
        lower,
    }));
    let when = prop_oneof![
        Just(When::Once),
        (1..40_u64, bounds)
            .prop_map(|(seconds, bounds)| { When::Every(Duration::from_secs(seconds), bounds) }),
    ];
    let failure = prop_oneof![
        Just(Failure::Budget(1)),
        Just(Failure::Overhead),
        Just(Failure::Other(String::new())),
    ];
    prop_oneof![
        4 => (0..4_u64, wish, when).prop_map(|(client, wish, when)| Event::Ask(client, wish, when)),
        1 => (0..40_usize).prop_map(Event::Gone),
        1 => failure.prop_map(Event::Fail),
        3 => (0..30_u64).prop_map(Event::Pass),
    ]
}

proptest! {
    /// One measurement at a time on a path (the world asserts it), bounds kept, and nobody who asked for one answer is left without.
    #[test]
    fn whatever_happens_everybody_is_answered_once(events in prop::collection::vec(event(), 1..60)) {
        let mut world = World::new();
        let mut once = Vec::new();
        for event in events {
            match event {
                Event::Ask(client, wish, when) => {
                    if let Ok(number) = world.watch(client, wish, when)
                        && when == When::Once
                    {
                        once.push(number);
                    }
                }
                Event::Gone(place) if !once.is_empty() => {
                    let gone = once.swap_remove(place % once.len());
                    world.service.handle_gone(gone);
                    world.act();
                }
                Event::Fail(failure) => {
                    if let Some((path, ..)) = world.under_way.pop() {
                        world.service.handle_failure(path, &failure, world.now);
                        world.act();
                    }
                }
                Event::Gone(_) => {}
                Event::Pass(seconds) => world.pass_s(seconds),
            }
            prop_assert!(world.service.open() <= LIMITS.queries);
        }
        world.pass_s(100);
        for number in once {
            prop_assert_eq!(world.words(number).len(), 1);
        }
    }
}
