use super::*;
use proptest::prelude::*;

const MS: i64 = 1_000_000;
const TERMS: Terms = Terms {
    interval: Duration::from_millis(10),
    late_after: Duration::from_millis(30),
    least_ns: None,
};

/// A stream every 10 ms with these delays in milliseconds; `None` is lost.
fn stream(delays_ms: &[Option<i64>]) -> Vec<Datagram> {
    (0..)
        .zip(delays_ms)
        .map(|(seq, delay)| Datagram {
            seq,
            sent_ns: seq * 10_000_000,
            delay_ns: delay.map(|ms| ms * MS),
        })
        .collect()
}

fn call(delays_ms: &[Option<i64>]) -> Call {
    Call::of(&stream(delays_ms), &TERMS).unwrap()
}

#[test]
fn a_steady_stream_suffers_nothing() {
    let call = call(&[Some(20); 5]);
    assert_eq!((call.sent, call.lost, call.late), (5, 0, 0));
    assert_eq!(call.pdv_ns, [0; 5]);
    assert_eq!((call.mean_ipdv_ns, call.longest_gap_ns), (Some(0.0), 0));
    assert_eq!(call.effective_runs, Runs::default());
}

/// Holds rrul/jitter-is-loss.
#[test]
fn late_is_more_than_thirty_milliseconds_after_the_least_delay() {
    let call = call(&[Some(20), Some(50), Some(51), None, Some(21)]);
    assert_eq!((call.lost, call.late), (1, 1), "50 ms is just in time");
    assert_eq!(
        (call.loss_pct, call.late_pct, call.effective_loss_pct),
        (20.0, 20.0, 40.0)
    );
    assert_eq!(call.lost_runs.lengths, [1]);
    assert_eq!(call.effective_runs.lengths, [2], "late and lost in one gap");
    assert_eq!(call.longest_gap_ns, 20_000_000);
    assert_eq!(call.pdv_ns, [0, 30_000_000, 31_000_000, 1_000_000]);
    assert_eq!(call.pdv_quantile(1.0), Some(31e6));
    assert_eq!(
        call.mean_ipdv_ns,
        Some(15.5e6),
        "(30 + 1) / 2; none across the loss"
    );
}

#[test]
fn a_known_least_delay_counts_from_there() {
    let terms = Terms {
        least_ns: Some(5 * MS),
        ..TERMS
    };
    let loaded = stream(&[Some(40), Some(60)]);
    let call = Call::of(&loaded, &terms).unwrap();
    assert_eq!((call.late, call.least_ns), (2, Some(5 * MS)));
    assert_eq!(Call::of(&loaded, &TERMS).unwrap().late, 0);
}

#[test]
fn an_offset_between_the_clocks_changes_nothing() {
    let near = [Some(20), Some(55), None, Some(30)];
    let far = near.map(|delay| delay.map(|ms| ms - 7_200_000));
    let (near, far) = (call(&near), call(&far));
    assert_eq!(
        near,
        Call {
            least_ns: near.least_ns,
            ..far
        }
    );
}

/// 0, 2, 1, 3 arrive in this order: 1 is late by RFC 4737, though it is not by the jitter buffer.
#[test]
fn a_datagram_behind_a_later_one_is_reordered() {
    let call = call(&[Some(10), Some(25), Some(10), Some(10)]);
    assert_eq!((call.reordered, call.late), (1, 0));
}

#[test]
fn the_first_of_two_arrivals_counts_and_the_second_is_a_duplicate() {
    let mut stream = stream(&[Some(10), Some(10), None]);
    stream.push(Datagram {
        delay_ns: Some(60 * MS),
        ..stream[1]
    });
    stream.push(Datagram {
        delay_ns: Some(12 * MS),
        ..stream[2]
    });
    let call = Call::of(&stream, &TERMS).unwrap();
    assert_eq!(
        (call.sent, call.duplicates, call.lost, call.late),
        (3, 1, 0, 0)
    );
}

#[test]
fn burst_ratio_compares_with_independent_loss() {
    let runs = |text: &str| Runs::of(text.chars().map(|c| c == 'x'));
    // One run of 4 in 8: mean 4 against 1 / (1 - 0.5) = 2.
    assert_eq!(runs("..xxxx..").burst_ratio, Some(2.0));
    // Every second: mean 1 against 2.
    assert_eq!(runs("x.x.x.x.").burst_ratio, Some(0.5));
    assert_eq!(runs("xx.x....").lengths, [2, 1]);
    assert_eq!(runs("xx.x....").longest, 2);
    assert_eq!(runs("....").burst_ratio, None);
    assert_eq!(runs("xxxx").burst_ratio, None);
    assert_eq!(runs(""), Runs::default());
}

#[test]
fn nothing_and_nothing_arrived() {
    assert_eq!(Call::of(&[], &TERMS), None);
    let call = call(&[None; 4]);
    assert_eq!(
        (call.lost, call.effective_loss_pct, call.least_ns),
        (4, 100.0, None)
    );
    assert_eq!((call.pdv_quantile(0.5), call.mean_ipdv_ns), (None, None));
    assert_eq!(call.longest_gap_ns, 40_000_000);
}

proptest! {
    #[test]
    fn counts_add_up(
        delays in proptest::collection::vec(proptest::option::weighted(0.8, any::<i64>()), 1..60),
        seqs in proptest::collection::vec(0_u64..60, 60),
        least in proptest::option::of(any::<i64>()),
    ) {
        let stream: Vec<Datagram> = delays.iter().zip(&seqs).zip(0..)
            .map(|((&delay_ns, &seq), i)| Datagram { seq, sent_ns: i * 10_000_000, delay_ns })
            .collect();
        let call = Call::of(&stream, &Terms { least_ns: least, ..TERMS }).unwrap();
        prop_assert_eq!(call.pdv_ns.len() as u64 + call.lost, call.sent);
        prop_assert!(call.lost + call.late <= call.sent && call.reordered < call.sent);
        prop_assert_eq!(call.effective_runs.lengths.iter().sum::<u64>(), call.lost + call.late);
        prop_assert!((0.0..=100.0).contains(&call.effective_loss_pct));
        prop_assert!(call.effective_runs.longest >= call.lost_runs.longest);
        prop_assert!(call.effective_runs.burst_ratio.is_none_or(|ratio| ratio.is_finite() && ratio > 0.0));
    }

    #[test]
    fn random_loss_has_a_burst_ratio_near_one(seed in any::<u64>(), share in 10_u64..60) {
        let mut state = seed;
        let losses: Vec<bool> = (0..20_000).map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % 100 < share
        }).collect();
        let ratio = Runs::of(losses).burst_ratio.unwrap();
        prop_assert!((ratio - 1.0).abs() < 0.1, "{ratio}");
    }
}
