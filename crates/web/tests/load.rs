//! Pages loaded from the real server over real sockets.
#![expect(clippy::unwrap_used, reason = "test helpers are tests too")]

mod stand;

use isobath_web::{Kind, ObjectLoad, PageLoad, PageModel, Target, load, probe};
use stand::{LONG, Stand, TOKEN};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{TcpListener, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use units::HttpVersion;

const ALL: [HttpVersion; 3] = [HttpVersion::Http1, HttpVersion::H2, HttpVersion::H3];

fn visit(stand: &Stand, model: &PageModel, protocol: HttpVersion) -> PageLoad {
    load(
        model,
        &stand.target,
        protocol,
        LONG,
        &AtomicBool::new(false),
    )
}

fn end(object: &ObjectLoad) -> Duration {
    object.found + object.total.unwrap()
}

/// All objects, of the right sizes, in phases that follow each other.
#[track_caller]
fn assert_whole(load: &PageLoad, model: &PageModel) {
    assert_eq!(load.error, None);
    let mut objects: Vec<_> = load.objects.iter().collect();
    objects.sort_by_key(|object| object.object);
    assert_eq!(objects.len(), model.objects().len());
    for (number, (object, expected)) in (0..).zip(objects.iter().zip(model.objects())) {
        assert_eq!((object.object, object.kind), (number, expected.kind));
        assert_eq!(
            (object.bytes, object.status),
            (expected.size.get(), Some(200))
        );
        assert_eq!(object.host, model.host_name(number, TOKEN));
        let before = [object.blocked, object.dns, object.connect, object.tls];
        let phases = before.into_iter().chain([object.wait, object.receive]);
        let sum: Duration = phases.flatten().sum();
        let total = object.total.unwrap();
        assert!(
            sum <= total && total.abs_diff(sum) < Duration::from_millis(500),
            "{object:?}"
        );
    }
    let awaited = objects.iter().filter(|object| object.kind != Kind::Fetch);
    assert_eq!(load.load_time, awaited.map(|object| end(object)).max());
    assert!(load.first_byte.unwrap() < load.load_time.unwrap());
}

/// Connections by host, and whether they are without credentials.
fn connections(load: &PageLoad) -> BTreeMap<(&str, bool), BTreeSet<u16>> {
    let mut all: BTreeMap<_, BTreeSet<u16>> = BTreeMap::new();
    for object in &load.objects {
        let is_own = object.host == load.objects[0].host;
        let is_apart = matches!(object.kind, Kind::Font | Kind::Fetch) && !is_own;
        all.entry((object.host.as_str(), is_apart))
            .or_default()
            .insert(object.connection.unwrap());
    }
    all
}

#[test]
fn both_pages_arrive_whole_over_all_protocols() {
    let stand = Stand::new();
    for name in PageModel::names() {
        let (model, published) = stand.publish(name);
        for protocol in ALL {
            let load = visit(&stand, &model, protocol);
            assert_whole(&load, &model);
            assert_eq!(load.protocol, protocol);
            assert_eq!(load.loaded(), model.objects().len());
            assert_eq!(load.bytes(), model.bytes().get());
        }
        drop(published);
    }
}

#[test]
fn http_1_has_at_most_six_connections_to_a_host_and_the_others_have_one() {
    let stand = Stand::new();
    let (model, _published) = stand.publish("today");
    for (protocol, most) in [
        (HttpVersion::Http1, 6),
        (HttpVersion::H2, 1),
        (HttpVersion::H3, 1),
    ] {
        let before = stand.accepted.load(Ordering::Relaxed);
        let load = visit(&stand, &model, protocol);
        let by_host = connections(&load);
        assert!(by_host.len() >= model.hosts().len());
        assert!(
            by_host
                .values()
                .all(|connections| connections.len() <= most)
        );
        let all = by_host.values().map(BTreeSet::len).sum::<usize>();
        let accepted = stand.accepted.load(Ordering::Relaxed) - before;
        if protocol == HttpVersion::H3 {
            assert_eq!(accepted, 0, "TCP has no part in it");
        } else {
            assert!(accepted >= all);
        }
        if protocol == HttpVersion::Http1 {
            let busiest = by_host.values().map(BTreeSet::len).max();
            assert!(busiest > Some(2), "requests run side by side: {by_host:?}");
            assert!(all < model.objects().len(), "connections are kept");
        }
    }
}

/// Holds rrul/page-of-2013.
#[test]
fn every_host_is_looked_up_once_and_connected_to_before_it_is_asked() {
    let stand = Stand::new();
    let (model, _published) = stand.publish("rrul2013");
    let load = visit(&stand, &model, HttpVersion::H2);
    // Of both families each.
    assert_eq!(stand.asked.load(Ordering::Relaxed), 2 * model.hosts().len());
    let mut paid = BTreeSet::new();
    for object in &load.objects {
        if object.connect.is_some() {
            assert!(paid.insert(object.connection), "paid for twice: {object:?}");
        }
    }
    let first = &load.objects[0];
    assert!(first.dns.is_some() && first.connect.is_some() && first.tls.is_some());
    assert!(paid.len() >= model.hosts().len());
}

#[test]
fn no_object_is_found_before_what_reveals_it() {
    let stand = Stand::new();
    let (model, _published) = stand.publish("today");
    for protocol in ALL {
        let load = visit(&stand, &model, protocol);
        let by_number: BTreeMap<_, _> = load.objects.iter().map(|o| (o.object, o)).collect();
        for object in &load.objects {
            let Some(parent) = model.objects()[usize::from(object.object)].after else {
                assert!(object.found < Duration::from_secs(1));
                continue;
            };
            let parent = by_number[&parent];
            let known = match parent.kind {
                Kind::Document => load.first_byte.unwrap(),
                _ => end(parent),
            };
            assert!(object.found >= known, "{object:?} {parent:?}");
        }
    }
}

#[test]
fn a_lost_question_is_asked_again() {
    let stand = Stand::new();
    let (model, _published) = stand.publish("rrul2013");
    stand.deaf.store(1, Ordering::Relaxed);
    let load = visit(&stand, &model, HttpVersion::H2);
    assert_whole(&load, &model);
    assert!(load.objects[0].dns.unwrap() >= Duration::from_secs(1));
}

#[test]
fn a_probe_times_connection_handshake_and_answer() {
    let stand = Stand::new();
    let (_, published) = stand.publish("today");
    let measured = probe(&stand.target, LONG, &AtomicBool::new(false));
    assert_eq!(measured.error, None);
    assert!(measured.connect.is_some() && measured.tls.is_some() && measured.http.is_some());
    drop(published);
    let measured = probe(&stand.target, LONG, &AtomicBool::new(false));
    assert!(measured.connect.is_some() && measured.tls.is_none());
    assert!(measured.error.unwrap().contains("TLS with probe."));
}

/// The one line of a load that must fail.
#[track_caller]
fn complaint(target: &Target, protocol: HttpVersion, timeout: Duration) -> String {
    let model = PageModel::find("today").unwrap();
    let load = load(&model, target, protocol, timeout, &AtomicBool::new(false));
    assert_eq!(load.load_time, None);
    assert!(load.objects.iter().all(|object| object.status.is_none()));
    let line = load.error.unwrap();
    assert!(!line.contains('\n'), "{line}");
    line
}

#[test]
fn every_fault_is_told_in_one_line() {
    let stand = Stand::new();
    let (_, published) = stand.publish("today");
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let good = stand.target;
    let told = |target: Target, text: &str| {
        let line = complaint(&target, HttpVersion::H2, Duration::from_millis(400));
        assert!(line.contains(text), "{line}");
    };
    told(
        Target { token: 1, ..good },
        "it answered 'Non-Existent Domain'",
    );
    told(
        Target {
            resolver: free,
            ..good
        },
        "Connection refused",
    );
    told(Target { peer: free, ..good }, "cannot connect to 127.0.0.1");
    told(
        Target {
            fingerprint: [0; 32],
            ..good
        },
        "is not the host that the key",
    );
    let peer = silent.local_addr().unwrap();
    told(
        Target { peer, ..good },
        "not done within 400ms: 70 of 70 objects are missing",
    );
    let mute = UdpSocket::bind("127.0.0.1:0").unwrap();
    let resolver = mute.local_addr().unwrap();
    told(Target { resolver, ..good }, "not done within 400ms");
    drop(published);
    told(good, "TLS with www.0123456789abcdef.isobath.test");
}

#[test]
fn faults_of_http_3_are_told_in_one_line_too() {
    let stand = Stand::new();
    let (_, published) = stand.publish("today");
    let told_in = |target: Target, time: Duration, text: &str| {
        let line = complaint(&target, HttpVersion::H3, time);
        assert!(line.contains(text), "{line}");
    };
    let told = |target, text: &str| told_in(target, LONG, text);
    let soon = |target, text: &str| told_in(target, Duration::from_millis(400), text);
    let good = stand.target;
    let stranger = Target {
        fingerprint: [0; 32],
        ..good
    };
    told(stranger, "is not the host that the key");
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let peer = silent.local_addr().unwrap();
    let missing = "not done within 400ms: 70 of 70 objects are missing";
    soon(Target { peer, ..good }, missing);
    drop(published);
    soon(good, missing);
    let other = stand
        .site
        .publish(1, good.peer.ip(), PageModel::find("today").unwrap());
    told(good, "https://www.0123456789abcdef.isobath.test");
    drop(other);
}

#[test]
fn a_client_of_http_3_at_another_address_shows_first_that_it_is_there() {
    let stand = Stand::new();
    let model = PageModel::find("rrul2013").unwrap();
    let elsewhere = "192.0.2.1".parse().unwrap();
    let _published = stand.site.publish(TOKEN, elsewhere, model.clone());
    assert_whole(&visit(&stand, &model, HttpVersion::H3), &model);
}

#[test]
fn connections_of_http_3_end_with_the_load() {
    let stand = Stand::new();
    let (model, published) = stand.publish("rrul2013");
    assert_whole(&visit(&stand, &model, HttpVersion::H3), &model);
    // The server alone would keep them for a minute.
    let mut patience = (0..2_000).map(|_| std::thread::park_timeout(Duration::from_millis(10)));
    while published.connections() > 0 && patience.next().is_some() {}
    assert_eq!(published.connections(), 0);
}

#[test]
fn a_load_that_is_aborted_keeps_what_it_has() {
    let stand = Stand::new();
    let model = PageModel::parse(
        "name = 'slow'\nsummary = ''\nhosts = ['www']\n\
         object = [{ kind = 'document', host = 'www', size = '9kB' },\n\
         { kind = 'image', host = 'www', size = '9kB', delay = '10s' }]",
        "slow",
    );
    let model = model.unwrap();
    let _published = stand
        .site
        .publish(TOKEN, stand.address().ip(), model.clone());
    let abort = AtomicBool::new(false);
    let load = std::thread::scope(|scope| {
        let loading = scope.spawn(|| load(&model, &stand.target, HttpVersion::Http1, LONG, &abort));
        while stand.accepted.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
        std::thread::park_timeout(Duration::from_millis(300));
        abort.store(true, Ordering::Relaxed);
        loading.join().unwrap()
    });
    assert_eq!(load.load_time, None);
    assert_eq!(
        load.error.as_deref(),
        Some("stopped: 1 of 2 objects are missing")
    );
    assert_eq!(load.objects[0].status, Some(200));
    assert_eq!(load.objects[1].status, None);
}

#[test]
fn withdrawing_a_page_ends_its_connections() {
    let stand = Stand::new();
    let model = PageModel::parse(
        "name = 'slow'\nsummary = ''\nhosts = ['www']\n\
         object = [{ kind = 'document', host = 'www', size = '9kB', delay = '10s' }]",
        "slow",
    );
    let model = model.unwrap();
    for protocol in ALL {
        let published = stand
            .site
            .publish(TOKEN, stand.address().ip(), model.clone());
        let load = std::thread::scope(|scope| {
            let loading = scope.spawn(|| visit(&stand, &model, protocol));
            while published.connections() == 0 {
                std::thread::yield_now();
            }
            drop(published);
            loading.join().unwrap()
        });
        let line = load.error.unwrap();
        assert!(
            load.load_time.is_none() && !line.contains("not done"),
            "{line}"
        );
    }
}
