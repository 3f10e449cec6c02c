use super::*;
use std::fmt::Write;

/// A document, a style sheet and 20 images on one host.
fn model() -> PageModel {
    let mut text = "name = 'm'\nsummary = ''\nhosts = ['a', 'b']\n".to_owned();
    for (kind, count) in [("document", 1), ("style", 1), ("image", 20)] {
        writeln!(
            text,
            "[[object]]\nkind = '{kind}'\nhost = 'a'\nsize = '10kB'\ncount = {count}"
        )
        .unwrap();
    }
    PageModel::parse(&text, "m").unwrap()
}

fn steps(queue: &mut Queue<'_>, is_blocked: bool) -> Vec<Step> {
    std::iter::from_fn(|| queue.poll(is_blocked)).collect()
}

#[test]
fn http_1_opens_six_connections_and_sends_one_request_on_each() {
    let model = model();
    let mut queue = Queue::new(&model, HttpVersion::Http1);
    (1..22).for_each(|object| queue.handle_found(object));
    assert_eq!(steps(&mut queue, false), [Step::Open(0); 6]);
    queue.handle_open(0, 0);
    let first = Step::Send {
        object: 1,
        connection: 0,
    };
    assert_eq!(steps(&mut queue, false), [first], "the most urgent");
    queue.handle_end(1, 0, true);
    let next = Step::Send {
        object: 2,
        connection: 0,
    };
    assert_eq!(steps(&mut queue, false), [next]);
}

#[test]
fn two_images_go_before_the_head_is_complete() {
    let model = model();
    for protocol in [HttpVersion::Http1, HttpVersion::H2] {
        let mut queue = Queue::new(&model, protocol);
        (1..22).for_each(|object| queue.handle_found(object));
        let opened = steps(&mut queue, true).len();
        for connection in 0..u16::try_from(opened).unwrap() {
            queue.handle_open(0, connection);
        }
        assert_eq!(steps(&mut queue, true).len(), 3, "{protocol}");
        queue.handle_end(2, 0, true);
        assert_eq!(steps(&mut queue, true).len(), 1, "{protocol}");
    }
}

#[test]
fn http_2_sends_everything_over_one_connection() {
    let model = model();
    let mut queue = Queue::new(&model, HttpVersion::H2);
    (1..22).for_each(|object| queue.handle_found(object));
    assert_eq!(steps(&mut queue, false), [Step::Open(0)]);
    queue.handle_open(0, 0);
    assert_eq!(steps(&mut queue, false).len(), 21);
    queue.handle_end(1, 0, true);
    queue.handle_found(0);
    let again = Step::Send {
        object: 0,
        connection: 0,
    };
    assert_eq!(steps(&mut queue, true), [again]);
}

#[test]
fn fonts_and_data_of_other_hosts_have_connections_of_their_own() {
    let model = PageModel::find("rrul2013").unwrap();
    let mut queue = Queue::new(&model, HttpVersion::H2);
    let fonts = model
        .objects()
        .iter()
        .position(|object| object.kind == Kind::Font);
    queue.handle_found(u16::try_from(fonts.unwrap()).unwrap());
    queue.handle_found(4);
    let opened = steps(&mut queue, false);
    let host = |step: &Step| match step {
        Step::Open(pool) => host_of(*pool),
        Step::Send { .. } => u16::MAX,
    };
    let hosts: Vec<_> = opened.iter().map(host).collect();
    assert_eq!(hosts, [6, 6]);
}

#[test]
fn a_host_that_cannot_be_reached_fails_all_that_waits_for_it() {
    let model = model();
    let mut queue = Queue::new(&model, HttpVersion::Http1);
    (1..5).for_each(|object| queue.handle_found(object));
    assert_eq!(steps(&mut queue, false).len(), 4);
    for _ in 0..3 {
        assert!(queue.handle_open_failed(0).is_empty());
    }
    assert_eq!(queue.handle_open_failed(0), [1, 2, 3, 4]);
    queue.handle_found(5);
    assert_eq!(
        steps(&mut queue, false),
        [Step::Open(0)],
        "and is tried anew"
    );
}

#[test]
fn a_lost_connection_is_replaced() {
    let model = model();
    for protocol in [HttpVersion::Http1, HttpVersion::H2] {
        let mut queue = Queue::new(&model, protocol);
        queue.handle_found(1);
        queue.poll(false);
        queue.handle_open(0, 0);
        queue.poll(false);
        queue.handle_end(1, 0, false);
        queue.handle_found(2);
        assert_eq!(steps(&mut queue, false), [Step::Open(0)], "{protocol}");
    }
}
