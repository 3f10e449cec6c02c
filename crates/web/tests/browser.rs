//! Pages loaded by real Chromium, from a server of this test. Skipped where Chromium is missing.
#![expect(clippy::unwrap_used, reason = "test helpers are tests too")]

#[path = "browser/server.rs"]
mod server;

use hickory_proto::op::ResponseCode;
use isobath_web::browser::{Browser, Chromium, Options, Proxied};
use isobath_web::{Kind, ObjectLoad, PageLoad, PageModel};
use server::{Manner, Page, Resolver, Server};
use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use sys::clock;
use units::HttpVersion;

/// A load has happened by then, on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn chromium() -> Option<Chromium> {
    match Chromium::find() {
        Ok(chromium) => Some(chromium),
        Err(error) => {
            skip(&error.to_string());
            None
        }
    }
}

/// Says that this test is skipped, and why; the test harness would keep what the macros print.
fn skip(reason: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let must_run = std::env::var_os("ISOBATH_TEST_NO_SKIP").is_some();
    assert!(!must_run, "{test} was to be skipped: {reason}");
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {reason}");
}

#[track_caller]
fn start(chromium: &Chromium, site: Option<Proxied>) -> Browser {
    let protocol = None;
    Browser::start(chromium, Options { site, protocol }).unwrap()
}

fn load(browser: &mut Browser, url: &str) -> PageLoad {
    browser.load(url, PATIENCE, &AtomicBool::new(false))
}

/// Pages by their paths.
fn pages<const N: usize>(pages: [(&str, &'static str, &str); N]) -> HashMap<String, Page> {
    let page = |(path, kind, body): (&str, _, &str)| (path.to_owned(), (kind, body.to_owned()));
    pages.into_iter().map(page).collect()
}

fn count(counter: &AtomicUsize) -> usize {
    counter.load(Ordering::Relaxed)
}

/// A page with one object of each kind on two hosts; a style sheet reveals an image, a script fetches.
fn small_page(port: u16) -> HashMap<String, Page> {
    let other = format!("https://img.0123456789abcdef.isobath.test:{port}");
    let document = format!(
        "<!doctype html><link rel=icon href='data:,'><link rel=stylesheet href=/1.css>\
         <script src=/2.js></script><body><img src={other}/3.gif><p>text"
    );
    let style = format!("body {{ background: url({other}/4.gif) }}");
    let script = "fetch('/5.json').then(answer => answer.text())";
    pages([
        ("/", "text/html", document.as_str()),
        ("/1.css", "text/css", style.as_str()),
        ("/2.js", "text/javascript", script),
        ("/3.gif", "image/gif", "GIF89a"),
        ("/4.gif", "image/gif", "GIF89a"),
        ("/5.json", "application/json", "[1,2,3]"),
    ])
}

/// A server of [`small_page`], which must know its own port.
fn small_server() -> Server {
    let port = server::nobody().port();
    let server = Server::start_at(port, small_page(port), Manner::default());
    assert_eq!(server.address.port(), port);
    server
}

#[track_caller]
fn object(load: &PageLoad, number: u16) -> &ObjectLoad {
    let found = load.objects.iter().find(|object| object.object == number);
    found.unwrap_or_else(|| panic!("no object {number} in {load:#?}"))
}

#[test]
fn every_object_of_a_page_is_timed_and_found_by_its_path() {
    let Some(chromium) = chromium() else { return };
    let (server, resolver) = (small_server(), Resolver::start(ResponseCode::NoError));
    let mut browser = start(&chromium, Some(server.site(resolver.address)));
    assert!(browser.version().contains("Chrom"), "{}", browser.version());
    let load = load(&mut browser, &server.url("www"));
    assert_eq!(load.error, None, "{load:#?}");
    assert_eq!((load.objects.len(), load.loaded()), (6, 6), "{load:#?}");
    assert_eq!(load.protocol, HttpVersion::Http1);
    assert!(load.first_byte.unwrap() < load.load_time.unwrap());
    let kinds = [
        Kind::Document,
        Kind::Style,
        Kind::Script,
        Kind::Image,
        Kind::Image,
        Kind::Fetch,
    ];
    for (number, kind) in (0..).zip(kinds) {
        let object = object(&load, number);
        assert_eq!(object.kind, kind, "{object:?}");
        assert_eq!(object.status, Some(200), "{object:?}");
        assert!(
            object.wait.is_some() && object.receive.is_some(),
            "{object:?}"
        );
        assert!(object.connection.is_some(), "{object:?}");
    }
    assert_eq!(object(&load, 5).bytes, 7);
    assert_eq!(object(&load, 3).host, "img.0123456789abcdef.isobath.test");
    let document = object(&load, 0);
    assert!(document.dns.is_some() && document.connect.is_some() && document.tls.is_some());
}

#[test]
fn every_load_looks_up_connects_and_fetches_anew() {
    let Some(chromium) = chromium() else { return };
    let (server, resolver) = (small_server(), Resolver::start(ResponseCode::NoError));
    let mut browser = start(&chromium, Some(server.site(resolver.address)));
    let mut before = (0, 0, 0);
    for _ in 0..3 {
        let load = load(&mut browser, &server.url("www"));
        assert_eq!(
            (load.error.as_deref(), load.loaded()),
            (None, 6),
            "{load:#?}"
        );
        let after = (
            count(&server.connections),
            count(&server.requests),
            count(&resolver.questions),
        );
        assert!(after.0 >= before.0 + 2, "connections: {before:?} {after:?}");
        assert_eq!(after.1, before.1 + 6, "requests");
        assert_eq!(after.2, before.2 + 2, "one look-up for each host");
        before = after;
    }
}

#[test]
fn fifteen_hosts_of_six_images_each_are_loaded_over_ninety_connections_at_once() {
    let Some(chromium) = chromium() else { return };
    let port = server::nobody().port();
    let image = |n: usize| {
        let host = n % 15;
        format!("<img src=https://h{host}.0123456789abcdef.isobath.test:{port}/{n}.gif>")
    };
    let images: String = (1..=90).map(image).collect();
    let mut all = pages([(
        "/",
        "text/html",
        &format!("<link rel=icon href='data:,'>{images}"),
    )]);
    let gif = |n: usize| (format!("/{n}.gif"), ("image/gif", "GIF89a".to_owned()));
    all.extend((1..=90).map(gif));
    // Long enough for all of them to be asked for before the first is answered.
    let manner = Manner {
        delay: Duration::from_millis(1500),
        ..Manner::default()
    };
    let server = Server::start_at(port, all, manner);
    let resolver = Resolver::start(ResponseCode::NoError);
    let mut browser = start(&chromium, Some(server.site(resolver.address)));
    let load = load(&mut browser, &server.url("h0"));
    assert_eq!(
        (load.error.as_deref(), load.loaded()),
        (None, 91),
        "{load:#?}"
    );
    // Some are answered while others still connect.
    let peak = count(&server.peak);
    assert!(peak > 64, "a limit of the proxy shows: {peak}");
}

#[test]
fn a_page_model_is_loaded_whole_by_both_protocols() {
    let Some(chromium) = chromium() else { return };
    let resolver = Resolver::start(ResponseCode::NoError);
    let model = PageModel::find("today").unwrap();
    for protocol in [HttpVersion::Http1, HttpVersion::H2] {
        let site = server::ModelSite::start(model.clone());
        let options = Options {
            site: Some(site.proxied(resolver.address)),
            protocol: Some(protocol),
        };
        let mut browser = Browser::start(&chromium, options).unwrap();
        let load = load(&mut browser, &site.url);
        assert_eq!((load.error.as_deref(), load.protocol), (None, protocol));
        assert_eq!(load.loaded(), model.objects().len());
        for (number, wanted) in (0..).zip(model.objects()) {
            let found = object(&load, number);
            assert_eq!(
                (found.kind, found.bytes),
                (wanted.kind, wanted.size.get()),
                "{found:?}"
            );
        }
    }
}

/// Holds rrul/favorite-website.
#[test]
fn a_site_of_the_net_is_loaded_without_a_proxy_and_numbered_in_order() {
    let Some(chromium) = chromium() else { return };
    let all = pages([
        (
            "/a",
            "text/html",
            "<link rel=icon href='data:,'><img src=/b><script>alert(1)</script>",
        ),
        ("/b", "image/gif", "GIF89a"),
    ]);
    let server = Server::start(
        all,
        Manner {
            is_plain: true,
            ..Manner::default()
        },
    );
    let mut browser = start(&chromium, None);
    let load = load(&mut browser, &format!("http://{}/a", server.address));
    assert_eq!(
        (load.error.as_deref(), load.loaded()),
        (None, 2),
        "{load:#?}"
    );
    assert_eq!(object(&load, 1).path, "/b");
    assert_eq!(object(&load, 0).tls, None);
    assert!(object(&load, 0).connect.is_some());
}

#[track_caller]
fn assert_fails(load: &PageLoad, words: &str) {
    let error = load.error.as_deref().unwrap_or_default();
    assert!(error.contains(words), "'{words}' is not in '{error}'");
    assert!(!error.contains('\n'), "{error}");
    assert_eq!(load.load_time, None);
    assert_eq!(load.loaded(), 0, "{load:#?}");
}

#[test]
fn what_can_be_wrong_with_the_path_is_told_in_one_line_each() {
    let Some(chromium) = chromium() else { return };
    let server = small_server();
    let resolver = Resolver::start(ResponseCode::NoError);
    let url = server.url("www");
    let try_with = |site: Proxied| load(&mut start(&chromium, Some(site)), &url);

    let refusing = Resolver::start(ResponseCode::Refused);
    let words = format!("at {}: the resolver says", refusing.address);
    assert_fails(&try_with(server.site(refusing.address)), &words);
    let no_name = Resolver::start(ResponseCode::NXDomain);
    assert_fails(&try_with(server.site(no_name.address)), "no such name");
    assert_fails(
        &try_with(server.site(server::nobody())),
        "no resolver there",
    );

    let mut unreachable = server.site(resolver.address);
    unreachable.peer = server::nobody();
    let words = format!(
        "connect to www.0123456789abcdef.isobath.test at {}",
        unreachable.peer
    );
    assert_fails(&try_with(unreachable), &words);

    let mut impostor = server.site(resolver.address);
    impostor.certificate = small_server().certificate;
    assert_fails(&try_with(impostor), "certificate is not the right one");
}

#[test]
fn a_page_that_hangs_is_given_up_in_time_with_what_was_loaded() {
    let Some(chromium) = chromium() else { return };
    let all = pages([
        (
            "/",
            "text/html",
            "<link rel=icon href='data:,'><img src=/1.gif><img src=/2.gif>",
        ),
        ("/1.gif", "image/gif", "GIF89a"),
    ]);
    let manner = Manner {
        silent_at: Some("/2.gif"),
        ..Manner::default()
    };
    let server = Server::start(all, manner);
    let resolver = Resolver::start(ResponseCode::NoError);
    let mut browser = start(&chromium, Some(server.site(resolver.address)));
    let url = server.url("www");
    let mut late_after = |seconds| {
        let late = browser.load(&url, Duration::from_secs(seconds), &AtomicBool::new(false));
        let error = late.error.as_deref().unwrap();
        let words = format!("did not finish within {seconds} s");
        assert!(error.ends_with(&words), "{error}");
        late
    };
    let mut late = late_after(3);
    if late.loaded() < 2 {
        // A busy machine takes longer to load the rest.
        late = late_after(20);
    }
    assert_eq!(
        (late.objects.len(), late.loaded(), late.load_time),
        (3, 2, None)
    );
    let stopped = browser.load(&url, PATIENCE, &AtomicBool::new(true));
    assert!(stopped.error.unwrap().ends_with("stopped"));
}

#[test]
fn a_browser_that_dies_during_a_load_says_so_and_so_does_the_next_load() {
    let Some(chromium) = chromium() else { return };
    let all = pages([("/", "text/html", "<img src=/1.gif>")]);
    let manner = Manner {
        silent_at: Some("/1.gif"),
        ..Manner::default()
    };
    let server = Server::start(all, manner);
    let resolver = Resolver::start(ResponseCode::NoError);
    let mut browser = start(&chromium, Some(server.site(resolver.address)));
    let (id, requests) = (browser.process_id(), server.requests.clone());
    let killer = std::thread::spawn(move || {
        while count(&requests) < 2 {
            std::thread::yield_now();
        }
        assert!(
            Command::new("kill")
                .args(["-9", &id.to_string()])
                .status()
                .unwrap()
                .success()
        );
    });
    let died = load(&mut browser, &server.url("www"));
    killer.join().unwrap();
    let error = died.error.unwrap();
    assert!(
        error.ends_with("Chromium ended by itself: killed by signal 9"),
        "{error}"
    );
    assert_eq!(died.objects[0].status, Some(200));
    let after = load(&mut browser, &server.url("www"));
    assert!(after.error.unwrap().contains("Chromium ended by itself"));
}

#[test]
fn a_browser_that_cannot_start_is_told_with_its_last_words() {
    let folder = tempfile::tempdir().unwrap();
    let fake = folder.path().join("chromium");
    let script = "#!/bin/sh\necho 'error while loading shared libraries' >&2\nexit 127\n";
    // By a process of its own: a file that this one has open for writing is inherited by what other tests start just now, and cannot be run.
    let writer = "printf %s \"$1\" > \"$0\" && chmod 755 \"$0\"";
    let fake_name = fake.to_str().unwrap();
    let mut written = Command::new("sh");
    written.args(["-c", writer, fake_name, script]);
    assert!(written.status().unwrap().success());
    let error = Browser::start(&Chromium::at(&fake), Options::default()).unwrap_err();
    let wanted = "Chromium ended by itself: exit status 127: error while loading shared libraries";
    assert_eq!(error.to_string(), wanted);
}

#[test]
fn an_address_that_is_no_web_page_is_refused() {
    let Some(chromium) = chromium() else { return };
    let mut browser = start(&chromium, None);
    for url in [
        "file:///etc/passwd",
        "about:blank",
        "",
        "http://",
        "https://\n/",
    ] {
        let load = load(&mut browser, url);
        assert!(load.error.is_some(), "{url:?}");
        assert_eq!(load.load_time, None, "{url:?}");
    }
}

#[test]
fn a_browser_leaves_neither_processes_nor_files() {
    let Some(chromium) = chromium() else { return };
    let mut browser = start(&chromium, None);
    load(&mut browser, "http://127.0.0.1:1/");
    let id = browser.process_id();
    let command_line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap();
    let command_line = String::from_utf8_lossy(&command_line).into_owned();
    let profile = command_line
        .split('\0')
        .find_map(|a| a.strip_prefix("--user-data-dir="));
    let profile = PathBuf::from(profile.unwrap());
    assert!(profile.exists());
    drop(browser);
    assert!(!profile.exists());
    assert!(!Path::new(&format!("/proc/{id}")).exists());
}

#[test]
fn a_network_of_its_own_needs_no_more_than_its_loopback() {
    let Some(chromium) = chromium() else { return };
    let Ok(ns) = sys::netns::Netns::create() else {
        return skip("not allowed to make a network namespace");
    };
    let loaded = ns.run(|| {
        let (server, resolver) = (small_server(), Resolver::start(ResponseCode::NoError));
        let mut browser = start(&chromium, Some(server.site(resolver.address)));
        Ok::<_, sys::Error>(load(&mut browser, &server.url("www")))
    });
    let load = loaded.unwrap();
    assert_eq!(
        (load.error.as_deref(), load.loaded()),
        (None, 6),
        "{load:#?}"
    );
}

/// Not a test: what the next one kills.
#[test]
#[ignore = "runs until it is killed"]
fn hold_a_browser() {
    let browser = start(&Chromium::find().unwrap(), None);
    println!("\nholds {}", browser.process_id());
    std::thread::park();
}

#[test]
fn a_browser_does_not_outlive_a_killed_owner() {
    if chromium().is_none() {
        return;
    }
    let mut owner = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "hold_a_browser", "--ignored", "--nocapture"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(owner.stdout.take().unwrap()).lines();
    let mut lines = lines.map(Result::unwrap);
    let id = lines.find_map(|line| line.strip_prefix("holds ").map(str::to_owned));
    let browser = PathBuf::from(format!("/proc/{}", id.unwrap()));
    assert!(browser.exists());
    owner.kill().unwrap();
    owner.wait().unwrap();
    let deadline = clock::now() + PATIENCE;
    while is_running(&browser) {
        assert!(clock::now() < deadline, "the browser runs on");
        clock::sleep_until(clock::now() + Duration::from_millis(20));
    }
}

/// Whether the process at `folder` runs; one that only waits to be buried does not.
fn is_running(folder: &Path) -> bool {
    let stat = std::fs::read_to_string(folder.join("stat")).unwrap_or_default();
    let state = stat
        .rsplit_once(") ")
        .and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| !"ZX".contains(state))
}
