//! The rules, one at a time, over a link in virtual time.

mod link;

use isobath_transport::{Law, Options};
use link::{Link, Verdict};
use std::time::Duration;

#[test]
fn a_clean_path_is_filled_without_a_retransmission() {
    let mut link = Link::new(&Options::default());
    link.sender.supply(5_000);
    let start = link.now;
    link.run(Duration::from_secs(60));
    let took = link.now.since(start).as_secs_f64();
    assert_eq!(link.receiver.receipts().segments, 5_000);
    assert_eq!(link.sender.sent().retransmits, 0);
    assert!(took < 5_000.0 * 0.0012 * 1.05, "{took}");
}

#[test]
fn one_loss_costs_half_the_window_and_one_retransmission() {
    let mut link = Link::new(&Options::default());
    link.fate = Box::new(|n, _| {
        if n == 200 {
            Verdict::Drop
        } else {
            Verdict::Pass
        }
    });
    link.sender.supply(2_000);
    link.run(Duration::from_secs(60));
    let sent = link.sender.sent();
    assert_eq!(
        (sent.retransmits, sent.recoveries, sent.timeouts),
        (1, 1, 0),
        "{sent:?}"
    );
}

#[test]
fn cubic_fills_a_path_with_a_short_queue() {
    let mut link = Link::new(&Options {
        law: Law::Cubic,
        ..Options::default()
    });
    link.limit = 40;
    link.sender.supply(20_000);
    let start = link.now;
    link.run(Duration::from_secs(120));
    let took = link.now.since(start).as_secs_f64();
    let ideal = 20_000.0 * 0.0012;
    assert_eq!(link.receiver.receipts().segments, 20_000);
    assert!(
        took < ideal * 1.1,
        "{took} of {ideal}: {:?}",
        link.sender.sent()
    );
}
