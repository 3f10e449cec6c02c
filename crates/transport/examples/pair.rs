//! A sender and a receiver that hand each other packets as fast as they can, for a profiler or a stopwatch:
//! `time cargo run --release -p isobath-transport --example pair -- 10000000 1000 50`
//! sends 10,000,000 segments, 1,000 on their way at a time, and loses every fiftieth thousandth.

use isobath_transport::{Options, Receiver, Sender};
use std::collections::VecDeque;
use std::time::Duration;
use units::{Ecn, Instant};

fn main() {
    let mut arguments = std::env::args()
        .skip(1)
        .filter_map(|text| text.parse::<u64>().ok());
    let segments = arguments.next().unwrap_or(10_000_000);
    let window = arguments.next().unwrap_or(1_000);
    let lost_in_100_000 = arguments.next().unwrap_or(0);
    let options = Options {
        max_window: u32::try_from(window).ok(),
        ..Options::default()
    };
    let (mut sender, mut receiver) = (Sender::new(&options, 1), Receiver::new(&options));
    sender.supply(u32::try_from(segments).unwrap_or(u32::MAX));
    let (mut now, mut packets) = (Instant::from_millis(1), 0_u64);
    let mut forth = VecDeque::new();
    while sender.sent().acked < segments {
        while let Some(segment) = sender.poll_transmit(now) {
            packets += 1;
            if packets.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 >= lost_in_100_000 * 42_949 {
                forth.push_back(segment);
            }
        }
        now += Duration::from_micros(1);
        match forth.pop_front() {
            Some(segment) => receiver.handle_segment(&segment, Ecn::Ect0, now),
            None => {
                now = [sender.next_timeout(), receiver.next_timeout()]
                    .into_iter()
                    .flatten()
                    .min()
                    .unwrap_or(now);
            }
        }
        receiver.handle_timeout(now);
        while let Some(ack) = receiver.poll_transmit(now) {
            sender.handle_ack(&ack, now);
        }
        sender.handle_timeout(now);
        while sender.poll_event().is_some() {}
    }
    println!("{packets} packets, {:?}", sender.sent());
}
