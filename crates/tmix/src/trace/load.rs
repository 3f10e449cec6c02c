//! What a set of vectors asks of a network, in figures and in words.

use super::words::{count, digits, rate};
use serde_json::{Value, json};
use vectors::Side;
use vectors::scale::Load;

/// Rates are null over no time.
pub fn figures(load: &Load) -> Value {
    let timed = !load.span.0.is_zero();
    let mbps = |side| timed.then(|| load.bits_per_second(side) / 1e6);
    json!({
        "connections": load.connections,
        "span_s": load.span.0.as_secs_f64(),
        "starts_per_s": timed.then(|| load.starts_per_second()),
        "bytes": { "initiators": load.bytes[0], "acceptors": load.bytes[1] },
        "mbps": {
            "initiators": mbps(Some(Side::Initiator)),
            "acceptors": mbps(Some(Side::Acceptor)),
            "both": mbps(None),
        },
    })
}

/// `1,301 connections within 1.00 s (1,301 starts/s), 202 Mbit/s of initiators and 471 Mbit/s of acceptors`.
pub fn words(load: &Load) -> String {
    let connections = count(load.connections);
    if load.span.0.is_zero() {
        return format!("{connections} connections at once");
    }
    let of = |side| rate(load.bits_per_second(Some(side)));
    format!(
        "{connections} connections within {} s ({} starts/s), {} of initiators and {} of acceptors",
        digits(load.span.0.as_secs_f64()),
        digits(load.starts_per_second()),
        of(Side::Initiator),
        of(Side::Acceptor),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_load_without_a_time_has_no_rate() {
        let mut load = Load::over(Duration::ZERO);
        load.connections = 3;
        assert_eq!(words(&load), "3 connections at once");
        assert_eq!(figures(&load)["mbps"]["both"], Value::Null);
        load.span.0 = Duration::from_secs(2);
        load.bytes = [250_000, 5_000_000];
        assert_eq!(
            words(&load),
            "3 connections within 2 s (1.50 starts/s), 1 Mbit/s of initiators and 20 Mbit/s of acceptors"
        );
        assert_eq!(figures(&load)["mbps"]["both"], 21.0);
    }
}
