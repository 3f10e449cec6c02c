//! Hosts with little processor time, and more than one server.

use crate::world::{address, built_in, receive, send, socket};
use isobath_lab::{Network, profiles};
use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use units::TrafficClass;

/// The weak lab; none where this user may not limit processor time, with the reason on stderr.
fn weak() -> Option<Network> {
    match Network::up(profiles::find("weak-client").unwrap(), 1) {
        Ok(network) => Some(network),
        Err(error) => {
            let line = error.to_string();
            assert!(
                line.contains("run as root") && !line.contains('\n'),
                "{line}"
            );
            eprintln!("skipped: {line}");
            None
        }
    }
}

/// The control groups of the calling thread.
fn groups() -> String {
    fs::read_to_string("/proc/thread-self/cgroup").unwrap()
}

/// The control groups of a process on `node`.
fn groups_on(network: &Network, node: &str) -> String {
    let mut command = Command::new("cat");
    command.arg("/proc/self/cgroup").stdout(Stdio::piped());
    let child = network.spawn(node, command).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn a_limit_holds_the_threads_and_processes_of_its_host_and_nothing_else() {
    let Some(network) = weak() else {
        return;
    };
    let before = groups();
    let is_limited = |text: &str| text.contains("/isobath-") && text.contains("-home\n");
    thread::scope(|scope| {
        let entered = scope.spawn(|| {
            network.node("home").unwrap().enter().unwrap();
            assert!(is_limited(&groups()));
            let later = thread::spawn(groups).join().unwrap();
            assert!(is_limited(&later), "a thread started later: {later}");
            assert_eq!(groups_on(&network, "server"), before);
        });
        entered.join().unwrap();
    });
    assert!(is_limited(&groups_on(&network, "home")));
    assert_eq!(groups_on(&network, "server"), before);
    assert_eq!(
        groups(),
        before,
        "this thread and the emulator's are outside"
    );
}

#[test]
fn a_thread_that_outlives_its_lab_is_free_again() {
    let Some(network) = weak() else {
        return;
    };
    let before = groups();
    let outliving = thread::spawn(move || {
        network.node("home").unwrap().enter().unwrap();
        assert_ne!(groups(), before);
        drop(network);
        assert_eq!(groups(), before);
    });
    outliving.join().unwrap();
}

#[test]
fn every_server_of_a_lab_is_reached_from_its_client() {
    let network = built_in("rtt-fair");
    assert_eq!(network.topology().servers(), ["near", "far"]);
    for server in network.topology().servers() {
        for v6 in [false, true] {
            let (near, far) = (socket(&network, "home", v6), socket(&network, server, v6));
            send(
                &near,
                address(&network, server, v6),
                TrafficClass::default(),
            );
            assert_eq!(receive(&far, 1).len(), 1);
        }
    }
}
