//! Delays of single connections, from the handshake on.

use crate::dumbbell::Dumbbell;
use std::io::{Read, Write};
use std::thread;
use std::time::Duration;
use sys::{clock, tcp};

/// Holds tmix/per-connection-delay, tmix/usernet.
#[test]
fn a_connection_has_the_round_trip_that_it_is_given_from_its_handshake_on() {
    let lab = Dumbbell::up();
    for (v6, port, millis) in [(false, 4_000, 60), (true, 4_001, 35)] {
        let listener = lab.listener(v6);
        let round_trip = Duration::from_millis(millis);
        let (mut near, [begun, established]) = lab.connect(v6, port, round_trip);
        assert!(
            established.since(begun) >= round_trip,
            "{begun} {established}"
        );
        let (mut far, _) = listener.accept().unwrap();
        for _ in 0..3 {
            let before = clock::now();
            let mut octet = [7];
            near.write_all(&octet).unwrap();
            far.read_exact(&mut octet).unwrap();
            far.write_all(&octet).unwrap();
            near.read_exact(&mut octet).unwrap();
            assert!(clock::now().since(before) >= round_trip);
        }
        for end in [&near, &far] {
            let least = tcp::info(end).unwrap().min_rtt;
            assert!(least.is_some_and(|least| least >= round_trip), "{least:?}");
        }
    }
    assert_eq!((lab.delays.len(), lab.delays.missed()), (4, 0));
}

/// Holds tmix/per-connection-delay.
#[test]
fn a_near_connection_does_not_wait_for_a_far_one_that_began_before() {
    let lab = Dumbbell::up();
    let _listener = lab.listener(false);
    thread::scope(|scope| {
        let far = scope.spawn(|| lab.connect(false, 4_000, Duration::from_secs(3)).1);
        while lab.delays.is_empty() {
            clock::sleep_until(clock::now() + Duration::from_millis(10));
        }
        let near = lab.connect(false, 4_001, Duration::from_millis(30)).1;
        let far = far.join().unwrap();
        assert!(near[1] < far[1], "{near:?} {far:?}");
        assert!(far[1].since(far[0]) >= Duration::from_secs(3));
    });
    assert_eq!(lab.delays.missed(), 0);
}
