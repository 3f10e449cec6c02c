use super::*;
use proptest::prelude::*;
use serde_json::json;

const NAMES: [&str; 5] = [
    "Network.requestWillBeSent",
    "Network.responseReceived",
    "Network.dataReceived",
    "Network.loadingFinished",
    "Network.loadingFailed",
];

/// A waterfall to which these events happened.
fn after(events: &[(&str, Value)]) -> Waterfall {
    let mut waterfall = Waterfall::default();
    for (name, params) in events {
        waterfall.take(&format!("Network.{name}"), params.clone());
    }
    waterfall
}

fn sent(id: &str, url: &str, seconds: f64) -> (&'static str, Value) {
    let request = json!({
        "requestId": id, "timestamp": seconds, "type": "Document", "request": { "url": url },
    });
    ("requestWillBeSent", request)
}

/// An answer over connection 7, which was made for it from 10 to 50 ms; the first octet came at 80 ms.
fn response() -> Value {
    json!({
        "status": 200, "protocol": "h2", "connectionId": 7, "encodedDataLength": 100,
        "headers": {},
        "timing": {
            "requestTime": 10.0, "dnsStart": -1, "dnsEnd": -1, "connectStart": 10, "connectEnd": 50,
            "sslStart": 30, "sslEnd": 50, "sendStart": 50, "receiveHeadersStart": 80,
            "receiveHeadersEnd": 80,
        },
    })
}

fn received(id: &str, response: &Value) -> (&'static str, Value) {
    let event = json!({ "requestId": id, "response": response });
    ("responseReceived", event)
}

fn finished(id: &str, seconds: f64) -> (&'static str, Value) {
    let event = json!({ "requestId": id, "timestamp": seconds, "encodedDataLength": 1100 });
    ("loadingFinished", event)
}

fn at(seconds: f64) -> Instant {
    events::instant(seconds).unwrap()
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "compared with what may be missing"
)]
fn ms(ms: u64) -> Option<Duration> {
    Some(Duration::from_millis(ms))
}

fn objects(waterfall: &Waterfall, seen: Vec<Seen>) -> Vec<ObjectLoad> {
    waterfall.objects(at(9.9), |_| None, seen)
}

#[test]
fn an_object_s_phases_add_up_to_its_time() {
    let data = json!({ "requestId": "1", "dataLength": 1000 });
    let events = [
        sent("1", "https://a.test:8443/x?y#z", 10.0),
        received("1", &response()),
        ("dataReceived", data),
        finished("1", 10.1),
    ];
    let waterfall = after(&events);
    assert_eq!(waterfall.in_flight(), 0);
    assert_eq!(waterfall.protocol(), Some(HttpVersion::H2));
    assert_eq!(waterfall.first_byte(), Some(at(10.08)));
    let found = &objects(&waterfall, Vec::new())[0];
    assert_eq!(
        (found.host.as_str(), found.path.as_str()),
        ("a.test", "/x?y")
    );
    assert_eq!(
        (Some(found.found), found.blocked, found.dns),
        (ms(100), ms(10), None)
    );
    assert_eq!(
        (found.connect, found.tls, found.wait),
        (ms(20), ms(20), ms(30))
    );
    assert_eq!((found.receive, found.total), (ms(20), ms(100)));
    assert_eq!(
        (found.bytes, found.status, found.connection),
        (1000, Some(200), Some(0))
    );
}

#[test]
fn a_look_up_that_the_proxy_saw_is_taken_out_of_the_time_to_connect() {
    let waterfall = after(&[
        sent("1", "https://a.test/", 10.0),
        received("1", &response()),
    ]);
    let seen = |host: &str, accepted| Seen {
        host: host.to_owned(),
        accepted: at(accepted),
        dns: ms(15),
    };
    let found = objects(
        &waterfall,
        vec![seen("b.test", 10.011), seen("a.test", 10.011)],
    );
    assert_eq!((found[0].dns, found[0].connect), (ms(15), ms(5)));
    let another = objects(&waterfall, vec![seen("a.test", 10.2)]);
    assert_eq!((another[0].dns, another[0].connect), (None, ms(20)));
}

#[test]
fn a_redirection_is_an_object_of_its_own() {
    let (name, mut again) = sent("1", "http://b.test/new", 10.2);
    again["redirectResponse"] = json!({ "status": 301 });
    let waterfall = after(&[sent("1", "http://a.test", 10.0), (name, again)]);
    let found = objects(&waterfall, Vec::new());
    assert_eq!((found[0].status, found[0].total), (Some(301), ms(200)));
    assert_eq!((found[1].path.as_str(), found[1].total), ("/new", None));
    assert_eq!(waterfall.in_flight(), 1);
}

#[test]
fn of_a_compressed_body_the_transferred_octets_count() {
    let mut compressed = response();
    compressed["headers"]["Content-Encoding"] = json!("br");
    let data = json!({ "requestId": "1", "dataLength": 5000 });
    let waterfall = after(&[
        sent("1", "https://a.test/", 10.0),
        received("1", &compressed),
        ("dataReceived", data),
        finished("1", 10.1),
    ]);
    assert_eq!(objects(&waterfall, Vec::new())[0].bytes, 1000);
}

#[test]
fn the_first_failure_is_kept_and_a_dropped_request_is_none() {
    let fail = |id: &str, text: &str, canceled: bool| {
        let event = json!({ "requestId": id, "errorText": text, "canceled": canceled });
        ("loadingFailed", event)
    };
    let waterfall = after(&[
        sent("1", "https://a.test/1", 10.0),
        sent("2", "https://a.test/2", 10.0),
        sent("3", "data:,", 10.0),
        fail("1", "net::ERR_ABORTED", true),
        fail("2", "net::ERR_FAILED", false),
    ]);
    assert_eq!(
        waterfall.failure(),
        Some("load document a.test/2: net::ERR_FAILED")
    );
    let found = objects(&waterfall, Vec::new());
    assert_eq!((found.len(), found[1].total), (2, None));
}

#[test]
fn a_page_without_end_takes_bounded_memory() {
    let mut waterfall = Waterfall::default();
    for number in 0..2 * MAX_OBJECTS {
        let (name, params) = sent(&number.to_string(), "https://a.test/", 10.0);
        waterfall.take(&format!("Network.{name}"), params);
    }
    assert_eq!(waterfall.requests.len(), MAX_OBJECTS);
    assert_eq!(waterfall.in_flight(), MAX_OBJECTS);
}

#[test]
fn urls_are_split_like_a_browser_splits_them() {
    let split = |url| split_url(url).map(|(host, path)| host + " " + &path);
    let cases = [
        ("https://a.test", Some("a.test /")),
        ("http://u:p@a.test:8080?q", Some("a.test /?q")),
        ("https://[::1]:443/x", Some("[::1] /x")),
        ("https://[::1]/x", Some("[::1] /x")),
        ("data:text/html,x", None),
        ("chrome-error://chromewebdata/", None),
    ];
    for (url, wanted) in cases {
        assert_eq!(split(url).as_deref(), wanted, "{url}");
    }
}

/// Some JSON of the shape of an event, with anything as its figures.
fn any_event() -> impl Strategy<Value = (usize, Value)> {
    let number = prop_oneof![
        Just(json!(null)),
        any::<f64>().prop_map(|n| json!(n)),
        Just(json!("x"))
    ];
    (0..NAMES.len(), "[12]", ".{0,12}", proptest::array::uniform4(number)).prop_map(
        |(name, id, text, [a, b, c, d])| {
            let event = json!({
                "requestId": id, "timestamp": a, "dataLength": b, "encodedDataLength": c,
                "errorText": text, "request": { "url": format!("https://{text}") },
                "response": { "status": d, "connectionId": a, "timing": {
                    "requestTime": b, "dnsStart": a, "dnsEnd": b, "connectStart": c, "connectEnd": d,
                    "sslStart": a, "sslEnd": c, "sendStart": d, "receiveHeadersEnd": b } },
            });
            (name, event)
        },
    )
}

proptest! {
    #[test]
    fn no_event_panics(events in proptest::collection::vec(any_event(), 0..20)) {
        let mut waterfall = Waterfall::default();
        for (name, event) in events {
            waterfall.take(NAMES[name], event);
        }
        let found = objects(&waterfall, Vec::new());
        prop_assert_eq!(found.len(), waterfall.requests.len());
    }
}
