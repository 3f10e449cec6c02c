//! TCP as the lab is told to have it.

use crate::dumbbell::Dumbbell;
use isobath_lab::{Network, Options, profiles};
use std::time::Duration;
use sys::tcp;

/// Holds tmix/tcp-of-hosts.
#[test]
fn connections_begin_with_the_window_and_the_control_of_the_lab() {
    for (v6, window) in [(false, 2), (true, 3), (false, 40)] {
        let lab = Dumbbell::with(Options {
            initial_window: Some(window),
            congestion_control: Some("reno".to_owned()),
            busy_hosts: true,
            ..Options::default()
        });
        let listener = lab.listener(v6);
        let (near, _) = lab.connect(v6, 4_000, Duration::from_millis(5));
        let (far, _) = listener.accept().unwrap();
        for end in [&near, &far] {
            assert_eq!(tcp::info(end).unwrap().snd_cwnd, Some(window));
            assert_eq!(tcp::congestion(end).unwrap(), "reno");
        }
    }
}

#[test]
fn a_congestion_control_that_there_is_not_is_refused_with_those_that_there_are() {
    let options = Options {
        congestion_control: Some("no-such".to_owned()),
        ..Options::default()
    };
    let topology = profiles::find("dumbbell").unwrap();
    let error = Network::up_with(topology, 1, &options)
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("congestion control 'no-such' is unknown to this kernel - it has:"),
        "{error}"
    );
}
