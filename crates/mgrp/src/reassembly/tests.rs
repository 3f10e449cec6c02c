use super::*;
use core::net::Ipv4Addr;
use proptest::prelude::*;

const TCP: u8 = 6;

fn key(id: u32) -> Key {
    Key {
        source: IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)),
        protocol: TCP,
        id,
    }
}

fn fragment(offset: u16, is_last: bool, octets: &[u8]) -> Fragment<'_> {
    Fragment {
        id: 0,
        offset,
        is_last,
        protocol: TCP,
        octets,
    }
}

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

/// Holds manager/bucket-key.
#[test]
fn packets_of_two_senders_do_not_mix() {
    let mut table = Reassembly::new(Limits::default());
    let other = Key {
        source: IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)),
        ..key(7)
    };
    assert_eq!(
        table.handle(key(7), &fragment(0, false, b"ab"), at(0)),
        None
    );
    assert_eq!(table.handle(other, &fragment(2, true, b"XY"), at(1)), None);
    let whole = table.handle(key(7), &fragment(2, true, b"cd"), at(2));
    assert_eq!(whole.as_deref(), Some(&b"abcd"[..]));
    let states = table.states();
    assert_eq!(
        (states.len(), states[0].key, states[0].fragments),
        (1, other, 1)
    );
    let counters = table.counters();
    assert_eq!((counters.fragments, counters.whole), (3, 1));
}

/// Holds manager/timeout.
#[test]
fn what_takes_too_long_is_given_up_and_its_number_is_free_again() {
    let mut table = Reassembly::new(Limits::default());
    assert_eq!(
        table.handle(key(1), &fragment(0, false, b"ab"), at(0)),
        None
    );
    assert_eq!(table.next_timeout(), Some(at(30_000)));
    assert_eq!(
        table.handle(key(1), &fragment(4, true, b"ef"), at(29_999)),
        None
    );
    table.handle_timeout(at(30_000));
    assert_eq!((table.counters().expired, table.octets), (1, 0));
    assert_eq!(
        table.handle(key(1), &fragment(2, true, b"cd"), at(30_001)),
        None
    );
    let whole = table.handle(key(1), &fragment(0, false, b"AB"), at(30_002));
    assert_eq!(
        whole.as_deref(),
        Some(&b"ABcd"[..]),
        "nothing of the old one"
    );
}

#[test]
fn who_contradicts_loses_the_packet_and_all_that_still_comes_of_it() {
    let mut table = Reassembly::new(Limits::default());
    assert_eq!(
        table.handle(key(1), &fragment(0, false, b"abcd"), at(0)),
        None
    );
    assert_eq!(
        table.handle(key(1), &fragment(2, false, b"XYZ"), at(1)),
        None
    );
    assert_eq!(table.handle(key(1), &fragment(4, true, b"ef"), at(2)), None);
    assert_eq!((table.counters().contradicted, table.octets), (2, 0));
    assert_eq!(table.states()[0].status, Status::Contradicted);
}

#[test]
fn the_oldest_goes_when_there_is_no_room() {
    let limits = Limits {
        packets: 2,
        octets: 1_000,
    };
    let mut table = Reassembly::new(limits);
    for id in 0..3 {
        table.handle(key(id), &fragment(0, false, b"ab"), at(id.into()));
    }
    assert_eq!(table.counters().evicted, 1);
    assert_eq!(table.states()[0].key, key(1));
    // A fragment far behind makes a packet large at once.
    table.handle(key(9), &fragment(998, false, b"zz"), at(9));
    assert_eq!(table.states().len(), 1);
    assert!(table.octets <= 1_000);
}

/// T table 4.2 has all buckets in one view.
///
/// Holds manager/table-4-2.
#[test]
fn packets_that_are_over_can_be_looked_at_for_a_while() {
    let mut table = Reassembly::new(Limits::default());
    for id in 0..40 {
        table.handle(key(id), &fragment(0, false, b"ab"), at(0));
    }
    for id in 0..38 {
        table.handle(key(id), &fragment(2, true, b"cd"), at(1));
    }
    table.handle_timeout(at(30_000));
    let view: Vec<_> = table
        .recent()
        .map(|state| (state.key.id, state.fragments, state.octets, state.status))
        .collect();
    assert_eq!(view.len(), MOST_RECENT);
    assert_eq!(view[29], (37, 2, 4, Status::Whole));
    assert_eq!(view[30], (38, 1, 2, Status::Expired));
}

#[test]
fn packets_of_one_fragment_leave_nothing_behind() {
    let mut table = Reassembly::new(Limits::default());
    table.handle(key(0), &fragment(0, false, b"ab"), at(0));
    for id in 1..10_000 {
        let whole = table.handle(key(id), &fragment(0, true, b"ab"), at(1));
        assert_eq!(whole.as_deref(), Some(&b"ab"[..]));
        assert!(table.ages.len() <= 2_049);
    }
    table.handle(key(0), &fragment(2, true, b"cd"), at(2));
    assert_eq!(table.next_timeout(), None);
}

proptest! {
    #[test]
    fn memory_is_bounded_whatever_comes(
        fragments in prop::collection::vec(
            (0_u32..40, any::<u16>(), any::<bool>(), 0_usize..1_400, 0_u64..2_000),
            0..400,
        )
    ) {
        let limits = Limits { packets: 8, octets: 100_000 };
        let mut table = Reassembly::new(limits);
        let octets = vec![3; 1_400];
        let mut now = 0;
        for (id, offset, is_last, length, later) in fragments {
            now += later;
            table.handle(key(id), &fragment(offset, is_last, &octets[..length]), at(now));
            let kept: usize = table.states().iter().map(|state| state.octets).sum();
            prop_assert_eq!(kept, table.octets);
            prop_assert!(table.octets <= limits.octets && table.entries.len() <= limits.packets);
            prop_assert!(table.ages.len() <= 33);
        }
        let counters = table.counters();
        table.handle_timeout(at(now + 30_000));
        prop_assert_eq!((table.octets, table.entries.len(), table.ages.len()), (0, 0, 0));
        prop_assert!(counters.whole <= counters.fragments);
    }
}
