use super::*;
use crate::model::samples::{a, any_vector, b, concurrent, ms, sequential, vector};
use crate::{Transport, Vector, sketch::Sketch};
use proptest::prelude::*;

/// Two epochs, an unfinished greeting, and a chat.
fn three() -> [Vector; 3] {
    let web = [a(300, 0), b(2_000, 600), a(100, 9_000), b(4_000, 20)];
    let chat = [a(10, 100), b(50, 200), a(20, 700), b(60, 400), a(30, 5_000)];
    let mut greeting = vector(sequential(&[b(40, 30)], None));
    greeting.min_rtt = None;
    greeting.windows = [4_096, 65_535];
    greeting.start = ms(12_500);
    [
        vector(sequential(&web, Some(ms(15_000)))),
        greeting,
        vector(concurrent(&chat, [Some(ms(1)), Some(ms(2))])),
    ]
}

fn describer(set: &[Vector]) -> Describer {
    let mut describer = Describer::default();
    for vector in set {
        describer.enter(vector);
    }
    describer
}

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() <= Sketch::RELATIVE_ERROR * other.abs()
}

/// Holds tmix/amounts.
#[test]
fn connections_and_octets_are_counted_by_kind() {
    let description = describer(&three()).describe("three");
    assert_eq!(
        description.connections,
        Amounts {
            all: 3,
            sequential: 2,
            concurrent: 1,
            one_way: 1,
            unfinished: 1,
        }
    );
    assert_eq!(
        description.bytes,
        Amounts {
            all: 6_610,
            sequential: 6_440,
            concurrent: 170,
            one_way: 40,
            unfinished: 40,
        }
    );
    assert_eq!(description.bytes_each_way, [460, 6_150]);
    // At 536 octets each: 2,000 take 4, 4,000 take 8, and three ADUs one each.
    assert_eq!(description.segments_each_way, [5, 15]);
    assert_eq!(description.epochs, 3);
    assert!((description.last_start_s - 12.5).abs() < 1e-9);
}

/// Holds tmix/distributions.
#[test]
fn distributions_are_of_what_their_names_say() {
    let description = describer(&three()).describe("three");
    let figures = |measure| {
        let quantity = &description.quantities[&measure];
        (quantity.count, quantity.min, quantity.max)
    };
    let expected = [
        (Measure::ConnectionBytes, (3, 40.0, 6_400.0)),
        (Measure::InitiatorBytes, (3, 0.0, 400.0)),
        (Measure::Epochs, (2, 1.0, 2.0)),
        (Measure::RequestBytes, (2, 100.0, 300.0)),
        (Measure::ResponseBytes, (3, 40.0, 4_000.0)),
        (Measure::ConcurrentAdus, (1, 5.0, 5.0)),
        (Measure::ConcurrentAduBytes, (5, 10.0, 60.0)),
        (Measure::IntraEpochMs, (2, 20.0, 600.0)),
        (Measure::InterEpochMs, (1, 9_000.0, 9_000.0)),
        (Measure::ConcurrentQuietMs, (3, 400.0, 5_000.0)),
        (Measure::TailMs, (3, 1.0, 15_000.0)),
        (Measure::WaitingMs, (3, 0.0, 9_620.0)),
        (Measure::MinRttMs, (2, 80.0, 80.0)),
        (Measure::InitiatorWindowBytes, (3, 4_096.0, 65_535.0)),
    ];
    for (measure, expected) in expected {
        assert_eq!(figures(measure), expected, "{measure:?}");
    }
    let loss = &description.quantities[&Measure::InitiatorLoss];
    assert!((loss.mean - 1e-5).abs() < 1e-12, "{loss:?}");
}

/// Holds tmix/shares.
#[test]
fn shares_are_those_that_d_quotes() {
    let shares = describer(&three()).describe("three").shares;
    let found = [
        shares.concurrent_connections,
        shares.concurrent_bytes,
        shares.one_epoch,
        shares.intra_epoch_emulated,
        shares.inter_epoch_emulated,
        shares.concurrent_quiet_emulated,
        shares.unknown_rtt,
        shares.initiators_64k,
        shares.acceptors_64k,
        shares.initiators_below_8k,
        shares.acceptors_below_8k,
    ];
    let third = 1.0 / 3.0;
    let expected = [
        third,
        170.0 / 6_610.0,
        0.5,
        0.5,
        1.0,
        2.0 * third,
        third,
        2.0 * third,
        third,
        third,
        0.0,
    ];
    for (found, expected) in found.into_iter().zip(expected) {
        assert!((found.unwrap() - expected).abs() < 1e-9, "{shares:?}");
    }
}

#[test]
fn nothing_is_described_too() {
    let description = Describer::default().describe("nothing");
    assert!(description.quantities.is_empty());
    assert_eq!(description.shares, Shares::default());
    assert!(
        Describer::default()
            .compare(&describer(&three()))
            .is_empty()
    );
}

#[test]
fn a_description_travels_as_json_and_has_a_schema() {
    let description = describer(&three()).describe("three");
    let json = serde_json::to_value(&description).unwrap();
    assert_eq!(json["quantities"]["request_bytes"]["unit"], "B");
    assert_eq!(json["quantities"]["min_rtt_ms"]["unit"], "ms");
    let read: Description = serde_json::from_value(json).unwrap();
    assert_eq!(read, description);
    let schema = serde_json::to_string(&schemars::schema_for!(Description)).unwrap();
    assert!(schema.contains("quantities"));
}

#[test]
fn measures_are_in_their_places() {
    let places = Measure::ALL.iter().map(|&measure| measure as usize);
    assert!(places.eq(0..Measure::ALL.len()));
}

#[test]
fn sets_are_compared_measure_by_measure() {
    let [web, greeting, chat] = three();
    let [one, other] = [&[web.clone(), greeting][..], &[web, chat][..]].map(describer);
    let differences = one.compare(&other);
    let of = |measure| {
        let mut found = differences.iter().filter(|found| found.measure == measure);
        found.next()
    };
    assert!(of(Measure::ConcurrentAdus).is_none());
    assert!(of(Measure::RequestBytes).unwrap().distance < 1e-9);
    let epochs = of(Measure::Epochs).unwrap();
    assert!((epochs.distance - 0.5).abs() < 1e-9);
    assert_eq!(epochs.counts, [2, 1]);
    let rtt = of(Measure::MinRttMs).unwrap();
    assert!(
        close(rtt.medians[0], 80.0) && close(rtt.means[1], 80.0),
        "{rtt:?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn any_set_is_described_and_parts_add_up(
        set in prop::collection::vec(any_vector(), 0..20),
        at in 0..20_usize,
    ) {
        let at = at.min(set.len());
        let mut parts = describer(&set[..at]);
        parts.merge(&describer(&set[at..]));
        let whole = describer(&set);
        prop_assert_eq!(parts.describe("set"), whole.describe("set"));
        for difference in parts.compare(&whole) {
            prop_assert!(difference.distance < 1e-9, "{:?}", difference);
        }
        let description = whole.describe("set");
        for quantity in description.quantities.values() {
            let figures = [quantity.p50, quantity.p80, quantity.p90, quantity.p97, quantity.p99];
            prop_assert!(figures.is_sorted(), "{:?}", quantity);
            prop_assert!(quantity.curve.len() < 200);
        }
    }
}

#[test]
fn udp_is_counted_apart() {
    let flow = |body, mss| Vector {
        transport: Transport::Udp,
        mss: Some(mss),
        ..vector(body)
    };
    let mut describer = Describer::default();
    // Three full datagrams and a rest after a question; a second and a half of a stream.
    let exchange = [a(100, 0), b(4_000, 500)];
    describer.enter(&flow(sequential(&exchange, None), [100, 1_200]));
    let stream = [0, 750, 750].map(|wait| b(200, wait));
    let mut other = Describer::default();
    other.enter(&flow(concurrent(&stream, [None; 2]), [0, 200]));
    describer.merge(&other);
    let description = describer.describe("udp");
    let udp = description.udp;
    assert_eq!((udp.flows, udp.isochronous, udp.one_way), (2, 1, 1));
    assert_eq!((udp.datagrams, udp.bytes), (1 + 4 + 3, 4_700));
    assert_eq!(udp.mean_bps, Some(4_700.0 * 8.0 / 1.5));
    assert_eq!(description.connections.all, 0);
    assert_eq!(description.quantities.len(), 0);
}
