//! What a window may never be, whatever is lost, late or doubled, in transfers that pause and end.

mod link;

use isobath_transport::{Cause, CongestionControl, Event, Options, Seq};
use link::{Link, Verdict};
use proptest::prelude::*;
use std::time::Duration;
use units::Instant;

fn options() -> impl Strategy<Value = Options> {
    let congestion_control = prop_oneof![
        Just(CongestionControl::Reno),
        Just(CongestionControl::Cubic)
    ];
    let switches = prop::collection::vec(any::<bool>(), 3);
    (congestion_control, switches, 1_u32..20).prop_map(
        |(congestion_control, switches, initial_window)| Options {
            congestion_control,
            initial_window,
            rack: switches[0],
            undo: switches[1],
            timestamps: switches[2],
            // After a pause the window is smaller for another reason, perhaps at the instant at which a recovery ends.
            restart_after_idle: false,
            validate_window: false,
            ..Options::default()
        },
    )
}

/// The end of what had been sent before `at`.
fn sent_before(link: &Link, at: Instant) -> Seq {
    let sent = link.trace.iter().take_while(|sent| sent.0 < at);
    let end = sent.map(|sent| sent.1.seq.0 + 1).max();
    Seq(end.unwrap_or(0))
}

/// Looks at what happened in a transfer, event by event.
fn check(link: &Link, has_undo: bool) -> Result<(), TestCaseError> {
    let (mut was_in_recovery, mut cut_to) = (false, None);
    for ((at, event), state) in link.events.iter().zip(&link.states) {
        let place = format!("{at:?} {event:?} {state:?}");
        prop_assert!(state.cwnd >= 1.0, "{}", place);
        match event {
            Event::Recovered if was_in_recovery && !state.in_recovery => {
                // RFC 6937 section 3.
                prop_assert!(state.cwnd >= state.ssthresh, "{}", place);
            }
            Event::Cut { cause, to, .. } => {
                let end = sent_before(link, *at);
                // RFC 6675 section 5: one cut for what was out, unless that was found needless. (A timeout, or a retransmission lost after one, is another:
                // RFC 5681 section 4.3.)
                let is_another = has_undo || cut_to.is_none_or(|end| state.una.minus(end) >= 0);
                let is_timeout = *cause == Cause::Timeout;
                prop_assert!(is_timeout || (*to >= 2.0 && is_another), "{}", place);
                cut_to = (!is_timeout).then_some(end);
            }
            _ => {}
        }
        was_in_recovery = state.in_recovery;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5_000, ..ProptestConfig::default() })]

    #[test]
    fn a_recovery_ends_at_its_threshold_and_a_window_is_cut_once(
        options in options(),
        batches in prop::collection::vec((1_u32..200, 0_u64..600), 1..5),
        fates in prop::collection::vec(0_u8..100, 1..300),
        ack_fates in prop::collection::vec(0_u8..100, 1..100),
        loss in 0_u8..15,
        limit in 5_usize..200,
    ) {
        let verdict = move |fate: u8| match fate {
            fate if fate < loss => Verdict::Drop,
            90..94 => Verdict::Late(Duration::from_millis(35)),
            94..96 => Verdict::Twice,
            _ => Verdict::Pass,
        };
        let at = |list: &[u8], n: u64| usize::try_from(n).map_or(0, |n| list.get(n).copied().unwrap_or(50));
        let mut link = Link::new(&options);
        link.limit = limit;
        link.fate = Box::new(move |n, _| verdict(at(&fates, n)));
        link.ack_fate = Box::new(move |n, _| verdict(at(&ack_fates, n)));
        for (segments, pause_ms) in batches {
            link.sender.supply(segments);
            link.run(Duration::from_millis(pause_ms));
        }
        link.sender.close();
        link.run(Duration::from_secs(3_600));
        check(&link, options.undo)?;
    }
}
