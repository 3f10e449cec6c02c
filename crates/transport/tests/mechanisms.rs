//! The rules, one at a time, over a link in virtual time.

mod link;

use isobath_transport::{
    Cause, CongestionControl, DelayedAck, Event, Options, Receiver, Recovery, RtoFloor, Segment,
    SegmentFlags, Seq,
};
use link::{Link, Verdict};
use std::time::Duration;
use units::{Ecn, Instant, Span};

fn drops(list: &'static [u64]) -> link::Fate {
    Box::new(move |n, _| {
        if list.contains(&n) {
            Verdict::Drop
        } else {
            Verdict::Pass
        }
    })
}

/// Drops a segment, and the first copy of it.
fn drops_twice(segment: Seq) -> link::Fate {
    let mut seen = 0;
    Box::new(move |_, passing| {
        seen += u32::from(passing.seq == segment);
        if passing.seq == segment && seen <= 2 {
            Verdict::Drop
        } else {
            Verdict::Pass
        }
    })
}

/// Runs `segments` over `link` and returns how long it took, in seconds.
fn transfer(link: &mut Link, segments: u32) -> f64 {
    let start = link.now;
    link.sender.supply(segments);
    link.run(Duration::from_secs(3_600));
    assert!(link.receiver.is_complete());
    let last = link.acks.last().map_or(start, |ack| ack.0);
    last.since(start).as_secs_f64()
}

fn cuts(link: &Link) -> Vec<(Cause, f64, f64)> {
    let cut = |event: &(Instant, Event)| match event.1 {
        Event::Cut { cause, from, to } => Some((cause, from, to)),
        _ => None,
    };
    link.events.iter().filter_map(cut).collect()
}

#[test]
fn a_clean_path_is_filled_without_a_retransmission() {
    let mut link = Link::new(&Options::default());
    let took = transfer(&mut link, 5_000);
    assert_eq!(link.sender.sent().retransmits, 0);
    assert!(took < 5_000.0 * 0.0012 * 1.05, "{took}");
}

/// Holds btc/congestion-avoidance, btc/fast-recovery.
#[test]
fn one_loss_costs_half_the_window_and_one_retransmission() {
    for recovery in [Recovery::Reno, Recovery::NewReno, Recovery::Sack] {
        for prr in [false, true] {
            let mut link = Link::new(&Options {
                recovery,
                prr,
                ..Options::default()
            });
            link.fate = drops(&[200]);
            transfer(&mut link, 2_000);
            let sent = link.sender.sent();
            assert_eq!(
                (sent.retransmits, sent.recoveries, sent.timeouts),
                (1, 1, 0),
                "{sent:?}"
            );
            let [(Cause::Loss, from, to)] = cuts(&link)[..] else {
                panic!("{:?}", cuts(&link))
            };
            assert!((to - (from / 2.0).floor()).abs() < 0.1);
        }
    }
}

/// Holds btc/advanced-recovery.
#[test]
fn many_losses_in_one_window_are_one_cut_with_sack_and_with_newreno() {
    for (recovery, rack) in [
        (Recovery::NewReno, false),
        (Recovery::Sack, false),
        (Recovery::Sack, true),
    ] {
        let mut link = Link::new(&Options {
            recovery,
            rack,
            ..Options::default()
        });
        link.fate = drops(&[200, 203, 204, 210, 220, 221, 222]);
        transfer(&mut link, 2_000);
        let sent = link.sender.sent();
        assert_eq!(
            (sent.retransmits, sent.recoveries, sent.timeouts),
            (7, 1, 0),
            "{recovery:?} {rack}: {sent:?}"
        );
    }
}

/// Holds btc/advanced-recovery.
#[test]
fn a_lost_retransmission_is_found_by_rack_and_costs_a_timeout_without() {
    for (rack, timeouts) in [(true, 0), (false, 1)] {
        let mut link = Link::new(&Options {
            rack,
            ..Options::default()
        });
        link.fate = drops_twice(Seq(200));
        transfer(&mut link, 2_000);
        assert_eq!(
            link.sender.sent().timeouts,
            timeouts,
            "{:?}",
            link.sender.sent()
        );
    }
}

#[test]
fn a_lost_tail_is_found_by_a_probe_long_before_the_timeout() {
    let mut link = Link::new(&Options::default());
    link.fate = drops(&[99]);
    transfer(&mut link, 100);
    let sent = link.sender.sent();
    assert_eq!(
        (sent.tail_probes, sent.timeouts, sent.retransmits),
        (1, 0, 1),
        "{sent:?}"
    );
    assert_eq!(cuts(&link), []);
    transfer(&mut link, 50);
    assert_eq!(
        cuts(&link).len(),
        1,
        "a loss that the probe repaired is a loss"
    );
}

#[test]
fn a_probe_that_was_not_needed_cuts_nothing() {
    let mut link = Link::new(&Options::default());
    link.ack_fate = Box::new(|_, ack| {
        if ack.ack == Seq(100) {
            Verdict::Late(Duration::from_millis(150))
        } else {
            Verdict::Pass
        }
    });
    transfer(&mut link, 100);
    let sent = link.sender.sent();
    assert_eq!((sent.tail_probes, sent.timeouts), (1, 0), "{sent:?}");
    assert_eq!(cuts(&link), []);
}

/// Holds btc/retransmission-timer.
#[test]
fn timeouts_double_while_nothing_comes_through() {
    let mut link = Link::new(&Options::default());
    link.fate = Box::new(|_, _| Verdict::Drop);
    link.sender.supply(20);
    link.run(Duration::from_secs(64));
    let times: Vec<u64> = link
        .trace
        .iter()
        .skip(10)
        .map(|(at, _)| (at.as_nanos() - 1_000_000_000) / 1_000_000_000)
        .collect();
    // No sample yet: the probe takes the first timeout's place, then 1 s doubles.
    assert_eq!(link.sender.sent().timeouts, 6, "{times:?}");
    let gaps: Vec<u64> = times
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .filter(|gap| *gap > 0)
        .collect();
    assert!(
        gaps.windows(2).skip(1).all(|pair| pair[1] == 2 * pair[0]),
        "{gaps:?}"
    );
    assert!(
        link.trace
            .iter()
            .skip(10)
            .all(|(_, segment)| segment.seq == Seq(0)
                || segment.seq == Seq(9)
                || segment.seq == Seq(10))
    );
}

/// Holds btc/timeout-rule.
#[test]
fn the_least_timeout_is_of_the_variation_or_of_the_whole() {
    for (rto_floor, least) in [(RtoFloor::Variation, 240), (RtoFloor::Timeout, 200)] {
        let mut link = Link::new(&Options {
            rto_floor,
            delayed_ack: DelayedAck {
                every: 1,
                ..DelayedAck::default()
            },
            initial_window: 1,
            max_window: Some(1),
            ..Options::default()
        });
        transfer(&mut link, 300);
        let rto = link.sender.snapshot().rto.as_millis();
        assert!((least..least + 5).contains(&rto), "{rto}");
    }
}

/// Holds btc/false-timeouts.
#[test]
fn a_spurious_timeout_is_undone() {
    let mut link = Link::new(&Options {
        rack: false,
        ..Options::default()
    });
    link.outage = Some((
        link.now + Duration::from_millis(500),
        link.now + Duration::from_millis(1_500),
    ));
    link.sender.supply(2_000);
    link.run(Duration::from_secs(3_600));
    let sent = link.sender.sent();
    assert!(
        sent.timeouts >= 1 && sent.undone == 1 && sent.spurious < 5,
        "{sent:?}"
    );
    assert_eq!(
        sent.retransmits, sent.timeouts,
        "only what the timer sent: {sent:?}"
    );
    assert_eq!(link.receiver.receipts().segments, 2_000);
}

/// Holds btc/lost-windows.
#[test]
fn a_window_that_is_lost_whole_is_told_from_one_of_which_something_arrived() {
    // Sixteen packets are out after the first round trip and a half; `arrives` is what the path lets through of what follows.
    let run = |arrives: fn(u64) -> bool, segments| {
        let mut link = Link::new(&Options {
            rack: false,
            ..Options::default()
        });
        link.fate = Box::new(move |n, _| {
            if arrives(n) {
                Verdict::Pass
            } else {
                Verdict::Drop
            }
        });
        transfer(&mut link, segments);
        let sent = link.sender.sent();
        (sent.lost_windows, sent.timeouts > 0)
    };
    assert_eq!(run(|n| !(10..40).contains(&n), 1_000), (1, true));
    assert_eq!(run(|_| true, 1_000), (0, false));
    // The end of a transfer is no window.
    assert_eq!(run(|n| !(10..14).contains(&n), 12), (0, true));
}

/// Holds btc/lost-windows.
#[test]
fn a_window_that_was_only_late_is_not_lost() {
    let mut link = Link::new(&Options {
        rack: false,
        ..Options::default()
    });
    let start = link.now;
    let [from, to] = [500, 1_500].map(|ms| start + Duration::from_millis(ms));
    link.outage = Some((from, to));
    transfer(&mut link, 2_000);
    let sent = link.sender.sent();
    assert_eq!((sent.undone, sent.lost_windows), (1, 0), "{sent:?}");
}

/// Holds btc/advanced-features.
#[test]
fn what_a_transfer_asks_of_tcp_is_told() {
    let run = |dropped: &'static [u64]| {
        let mut link = Link::new(&Options::default());
        link.fate = drops(dropped);
        transfer(&mut link, 2_000);
        let most = link.states.iter().map(|state| state.next.minus(state.una));
        let sent = link.sender.sent();
        assert!(i64::from(sent.largest_flight) >= most.max().unwrap_or_default().into());
        sent
    };
    assert_eq!(run(&[200]).multiple_losses, 0);
    assert_eq!(run(&[200, 203, 900, 905]).multiple_losses, 2);
    // A copy that is lost as well is the same segment.
    let mut link = Link::new(&Options::default());
    link.fate = drops_twice(Seq(200));
    transfer(&mut link, 2_000);
    let sent = link.sender.sent();
    assert_eq!((sent.retransmits, sent.multiple_losses), (2, 0), "{sent:?}");
    // No more than the receiver's window, when that bounds it.
    let mut link = Link::new(&Options {
        max_window: Some(20),
        ..Options::default()
    });
    transfer(&mut link, 2_000);
    assert_eq!(link.sender.sent().largest_flight, 20);
}

/// Holds btc/reordering-window.
#[test]
fn reordering_is_learnt_and_then_costs_nothing() {
    let mut link = Link::new(&Options::default());
    link.fate = Box::new(|n, _| {
        if n % 50 == 49 {
            Verdict::Late(Duration::from_millis(8))
        } else {
            Verdict::Pass
        }
    });
    transfer(&mut link, 5_000);
    let sent = link.sender.sent();
    // Eight milliseconds are six packets and two thirds.
    let receipts = link.receiver.receipts();
    assert!(receipts.reordered > 90);
    // But for the first, when so many are not yet out.
    assert!(
        receipts.reordered_by_3 + 1 >= receipts.reordered,
        "{receipts:?}"
    );
    assert!((6..=7).contains(&receipts.most_overtaking), "{receipts:?}");
    assert!(sent.retransmits < 10, "{sent:?}");
    assert_eq!(sent.recoveries, sent.undone, "{sent:?}");
    assert_eq!(sent.multiple_losses, 0, "{sent:?}");
}

#[test]
fn a_thousand_packets_in_reverse_arrive_all_the_same() {
    let mut link = Link::new(&Options {
        initial_window: 1_000,
        ..Options::default()
    });
    link.fate = Box::new(|n, _| match n {
        0..1_000 => Verdict::Late(Duration::from_millis(3) * u32::try_from(1_000 - n).unwrap_or(0)),
        _ => Verdict::Pass,
    });
    link.sender.supply(1_500);
    link.run(Duration::from_secs(600));
    let receipts = link.receiver.receipts();
    assert_eq!((receipts.segments, receipts.refused), (1_500, 0));
    assert!(receipts.reordered > 900, "{receipts:?}");
    assert_eq!(link.sender.sent().violations, 0);
}

#[test]
fn a_mark_cuts_once_a_round_trip_and_is_answered() {
    let mut link = Link::new(&Options {
        ecn: true,
        ..Options::default()
    });
    link.fate = Box::new(|n, _| {
        if (200..206).contains(&n) {
            Verdict::Mark
        } else {
            Verdict::Pass
        }
    });
    transfer(&mut link, 2_000);
    let sent = link.sender.sent();
    assert_eq!(
        (sent.marks, sent.retransmits, cuts(&link).len()),
        (1, 0, 1),
        "{:?}",
        cuts(&link)
    );
    assert!(link.acks.iter().any(|(_, ack)| ack.ece));
    assert!(link.acks.last().is_some_and(|(_, ack)| !ack.ece));
    assert_eq!(
        link.trace
            .iter()
            .filter(|(_, segment)| segment.flags.cwr)
            .count(),
        1
    );
}

#[test]
fn the_window_falls_back_after_a_pause() {
    for (restart_after_idle, burst) in [(true, 10), (false, 100)] {
        let mut link = Link::new(&Options {
            restart_after_idle,
            ..Options::default()
        });
        transfer(&mut link, 1_000);
        link.now += Duration::from_secs(20);
        let before = link.trace.len();
        link.sender.supply(100);
        while link.sender.poll_transmit(link.now).is_some() {
            link.trace.push((link.now, Segment { ..link.trace[0].1 }));
        }
        assert_eq!(link.trace.len() - before, burst);
    }
}

#[test]
fn a_closed_window_is_probed_ever_more_seldom_and_opens() {
    let mut link = Link::new(&Options {
        receive_window: 20,
        ..Options::default()
    });
    link.receiver.hold(true, link.now);
    link.sender.supply(100);
    link.run(Duration::from_secs(60));
    assert_eq!(link.receiver.receipts().segments, 20);
    assert_eq!(link.sender.snapshot().window, 0);
    let probes: Vec<Instant> = link
        .trace
        .iter()
        .filter(|item| item.1.flags.probe)
        .map(|item| item.0)
        .collect();
    let gaps: Vec<u128> = probes
        .windows(2)
        .map(|pair| pair[1].since(pair[0]).as_millis())
        .collect();
    assert!(
        gaps.len() >= 4 && gaps.windows(2).all(|pair| pair[1] > pair[0] * 19 / 10),
        "{gaps:?}"
    );
    link.receiver.hold(false, link.now);
    link.run(Duration::from_secs(60));
    assert_eq!(link.receiver.receipts().segments, 100);
    assert_eq!(link.receiver.receipts().refused, 0);
}

#[test]
fn a_lost_opening_of_the_window_is_made_good_by_a_probe() {
    let mut link = Link::new(&Options {
        receive_window: 20,
        ..Options::default()
    });
    link.receiver.hold(true, link.now);
    link.sender.supply(100);
    link.run(Duration::from_secs(10));
    link.receiver.hold(false, link.now);
    assert!(
        link.receiver.poll_transmit(link.now).is_some(),
        "announced, and lost"
    );
    link.run(Duration::from_secs(60));
    assert_eq!(link.receiver.receipts().segments, 100);
}

#[test]
fn cubic_fills_a_path_with_a_short_queue() {
    let mut link = Link::new(&Options {
        congestion_control: CongestionControl::Cubic,
        ..Options::default()
    });
    link.limit = 40;
    let took = transfer(&mut link, 20_000);
    let ideal = 20_000.0 * 0.0012;
    assert!(
        took < ideal * 1.05,
        "{took} of {ideal}: {:?}",
        link.sender.sent()
    );
    let losses = cuts(&link);
    assert!(
        losses
            .iter()
            .all(|(_, from, to)| (to / from - 0.7).abs() < 0.03),
        "{losses:?}"
    );
}

#[test]
fn hystart_leaves_slow_start_before_the_queue_overflows() {
    let mut congestion_control = Options {
        congestion_control: CongestionControl::Cubic,
        ..Options::default()
    };
    let mut drops = Vec::new();
    for hystart in [true, false] {
        congestion_control.cubic.hystart = hystart;
        let mut link = Link::new(&congestion_control);
        link.limit = 60;
        transfer(&mut link, 1_000);
        drops.push(link.queue_drops);
    }
    assert!(drops[0] < 10 && drops[1] > 100, "{drops:?}");
}

/// A receiver and a way to hand it segments by number.
struct Far(Receiver, Instant, u64);

impl Far {
    fn new(rule: DelayedAck) -> Self {
        Self::by(&Options {
            mss: 100,
            delayed_ack: rule,
            ..Options::default()
        })
    }

    fn by(options: &Options) -> Self {
        Self(Receiver::new(options), Instant::from_millis(5), 0)
    }

    /// Segment `number` arrives; returns the number acknowledged at once, and the SACK blocks.
    fn hear(&mut self, number: u32) -> Option<(u32, Vec<(u32, u32)>)> {
        let id = isobath_transport::PacketId(self.2 << 32);
        (self.1, self.2) = (self.1 + Duration::from_millis(1), self.2 + 1);
        let segment = Segment {
            seq: Seq(number),
            id,
            len: 100,
            flags: SegmentFlags::default(),
            sent: self.1,
        };
        self.0.handle_segment(&segment, Ecn::Ect0, self.1);
        let ack = self.0.poll_transmit(self.1)?;
        assert_eq!(ack.id, id);
        Some((
            ack.ack.0,
            ack.sack
                .iter()
                .map(|(first, end)| (first.0, end.0))
                .collect(),
        ))
    }
}

/// Holds btc/cap-delayed-acks.
#[test]
fn every_second_segment_is_acknowledged_and_a_single_one_after_a_while() {
    let mut far = Far::new(DelayedAck {
        every: 2,
        interval: Span::from_millis(40),
        quick: 2,
        compression: Span::default(),
    });
    assert_eq!(far.hear(0), Some((1, vec![])));
    assert_eq!(far.hear(1), Some((2, vec![])));
    assert_eq!(far.hear(2), None);
    assert_eq!(far.hear(3), Some((4, vec![])));
    assert_eq!(far.hear(4), None);
    let at = far.0.next_timeout().expect("one waits");
    assert_eq!(at, far.1 + Duration::from_millis(40));
    far.0.handle_timeout(at);
    let ack = far.0.poll_transmit(at).expect("it is time");
    assert_eq!((ack.ack, ack.delay_ns), (Seq(5), 40_000_000));
    assert_eq!(ack.echo, far.1);
}

/// RFC 2018 section 5 and RFC 2883 section 4.1, in segments.
#[test]
fn sack_blocks_tell_the_latest_first_and_a_duplicate_before_it() {
    let mut far = Far::by(&Options {
        timestamps: false,
        ..at_once()
    });
    assert_eq!(far.hear(2), Some((0, vec![(2, 3)])));
    assert_eq!(far.hear(4), Some((0, vec![(4, 5), (2, 3)])));
    assert_eq!(far.hear(6), Some((0, vec![(6, 7), (4, 5), (2, 3)])));
    assert_eq!(far.hear(8), Some((0, vec![(8, 9), (6, 7), (4, 5), (2, 3)])));
    assert_eq!(
        far.hear(10),
        Some((0, vec![(10, 11), (8, 9), (6, 7), (4, 5)]))
    );
    assert_eq!(
        far.hear(3),
        Some((0, vec![(2, 5), (10, 11), (8, 9), (6, 7)]))
    );
    assert_eq!(
        far.hear(3),
        Some((0, vec![(3, 4), (2, 5), (10, 11), (8, 9)]))
    );
    assert_eq!(
        far.hear(0),
        Some((1, vec![(2, 5), (10, 11), (8, 9), (6, 7)]))
    );
    assert_eq!(far.hear(1), Some((5, vec![(10, 11), (8, 9), (6, 7)])));
    assert_eq!(
        far.hear(0),
        Some((5, vec![(0, 1), (10, 11), (8, 9), (6, 7)]))
    );
    assert_eq!(far.0.receipts().duplicates, 2);
}

/// Linux 6.18's `__tcp_ack_snd_check`: three at once, then one for what comes within a twentieth of the RTT, at most 1 ms.
#[test]
fn where_the_rtt_is_known_duplicates_beyond_three_go_together() {
    let mut far = Far::by(&at_once());
    far.0
        .set_round_trip(Duration::from_millis(200), Duration::from_millis(400));
    let sacks = |end| Some((0, vec![(1, end)]));
    let heard: Vec<_> = (1..=4).map(|number| far.hear(number)).collect();
    assert_eq!(heard, [sacks(2), sacks(3), sacks(4), None]);
    let due = far.0.next_timeout().expect("one waits");
    assert_eq!(
        due,
        far.1 + Duration::from_micros(1_100),
        "with a timer's slack"
    );
    far.0.handle_timeout(due);
    let ack = far.0.poll_transmit(due).expect("it is time");
    let blocks: Vec<_> = ack.sack.iter().collect();
    assert_eq!((ack.ack, blocks), (Seq(0), vec![(Seq(1), Seq(5))]));
    assert_eq!(far.0.next_timeout(), None);
    // What fills the gap is acknowledged at once, and after it three are again.
    far.1 = due;
    assert_eq!(far.hear(0), Some((5, vec![])));
    assert_eq!(far.hear(7), Some((5, vec![(7, 8)])));
    // Without SACK each is: the sender can only count.
    let mut plain = Far::by(&Options {
        recovery: Recovery::NewReno,
        ..at_once()
    });
    plain
        .0
        .set_round_trip(Duration::from_millis(200), Duration::from_millis(400));
    assert!((1..=9).all(|number| plain.hear(number).is_some()));
}

/// The kernel's `TCP_SACK_BLOCKS_EXPECTED`: what waited would be pushed out of the blocks by more of its kind.
#[test]
fn no_duplicate_waits_that_begins_a_third_range() {
    let mut far = Far::by(&at_once());
    far.0
        .set_round_trip(Duration::from_millis(200), Duration::from_millis(400));
    assert!((1..=3).all(|number| far.hear(number).is_some()));
    assert_eq!(far.hear(5), None, "the second range");
    let three = vec![(7, 8), (5, 6), (1, 4)];
    assert_eq!(far.hear(7), Some((0, three)));
    assert_eq!(far.0.next_timeout(), None, "it told of what waited, too");
    assert_eq!(far.hear(8), None, "more of the latest range");
    assert_eq!(far.hear(6), None, "the latest two are one now");
    // Every second segment is missing: each that comes is told of.
    for number in (10..40).step_by(2) {
        let (_, blocks) = far.hear(number).expect("at once");
        assert_eq!(blocks.first(), Some(&(number, number + 1)));
    }
}

/// Every segment is acknowledged at once.
fn at_once() -> Options {
    Options {
        delayed_ack: DelayedAck {
            quick: 0,
            ..DelayedAck::default()
        },
        ..Options::default()
    }
}

/// RFC 2018 section 3: 40 octets of options hold four blocks, or three beside time stamps.
#[test]
fn time_stamps_leave_room_for_three_blocks() {
    let mut far = Far::by(&at_once());
    for number in [2, 4, 6] {
        far.hear(number);
    }
    assert_eq!(far.hear(8), Some((0, vec![(8, 9), (6, 7), (4, 5)])));
    assert_eq!(far.hear(3), Some((0, vec![(2, 5), (8, 9), (6, 7)])));
    assert_eq!(far.hear(3), Some((0, vec![(3, 4), (2, 5), (8, 9)])));
}

/// Holds btc/new-algorithms.
#[test]
fn one_segment_more_leaves_for_each_of_the_first_duplicates() {
    for limited_transmit in [true, false] {
        let mut link = Link::new(&Options {
            limited_transmit,
            initial_window: 4,
            initial_ssthresh: Some(8),
            ..Options::default()
        });
        link.fate = drops(&[60]);
        transfer(&mut link, 500);
        let lost_at = link
            .trace
            .iter()
            .filter(|item| item.1.seq == Seq(60))
            .map(|item| item.0)
            .nth(1)
            .expect("sent again");
        let dup = link
            .acks
            .iter()
            .filter(|item| item.1.ack == Seq(60) && !item.1.sack.is_empty())
            .map(|item| item.0)
            .next()
            .expect("a duplicate");
        let arrived = dup + Duration::from_millis(20);
        let sent = link
            .trace
            .iter()
            .filter(|item| item.0 >= arrived && item.0 < lost_at)
            .count();
        assert_eq!(sent, if limited_transmit { 2 } else { 0 });
    }
}

#[test]
fn a_transfer_is_done_when_what_was_sent_is_acknowledged() {
    let mut link = Link::new(&Options::default());
    link.sender.supply(u32::MAX);
    link.run(Duration::from_secs(2));
    assert!(!link.sender.is_done());
    link.sender.close();
    link.run(Duration::from_secs(2));
    assert!(link.sender.is_done());
    assert_eq!(link.sender.next_timeout(), None);
    assert_eq!(link.sender.sent().acked, link.receiver.receipts().segments);
}

#[test]
fn a_packet_that_comes_back_names_its_segment_until_it_is_acknowledged() {
    let mut link = Link::new(&Options::default());
    link.sender.supply(3);
    let first = link
        .sender
        .poll_transmit(link.now)
        .expect("the window is open");
    assert_eq!(link.sender.find(first.id), Some(first));
    assert_eq!(
        link.sender
            .find(isobath_transport::PacketId(first.id.0 ^ 2)),
        None
    );
    link.run(Duration::from_secs(5));
    assert!(
        link.sender.sent().retransmits > 0,
        "the first was taken from the link"
    );
    assert_eq!(link.sender.find(first.id), None);
}
