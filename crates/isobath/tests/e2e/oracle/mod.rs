//! What a measurement says beside what other people's tools say of the very same packets.
//!
//! A *scene* is a lab in which dumpcap watches the interface of either end while a measurement runs between them, as between two
//! hosts. tshark then tells times, lengths, marks and headers of all packets, and each verb's file works out from them what the
//! record should say. One comparison serves two tests: a short one over a lab or two, and an ignored one over all [`LABS`] that
//! prints the table of docs/oracle.md:
//!
//! `cargo test -p isobath --test e2e -- --ignored --nocapture --test-threads 1 oracle`
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::or_fun_call,
    clippy::similar_names,
    reason = "figures of a test, far below any limit"
)]

mod btc;
mod estimate;
mod manager;
mod mbm;
mod packets;
mod replay;
mod rrul;
mod scene;
mod table;

/// All that differ in what could mislead a measurement: rates, queues, losses, outages, marks.
const LABS: [&str; 7] = [
    "dsl",
    "cable-hops",
    "lossy",
    "satellite",
    "lte",
    "dsl-ecn",
    "dsl-remark",
];

/// All of them, or those that the environment names in `ORACLE_LABS`.
fn labs() -> Vec<&'static str> {
    let only = std::env::var("ORACLE_LABS").unwrap_or_default();
    let only: Vec<_> = only.split(',').map(str::trim).collect();
    if only == [""] {
        return LABS.to_vec();
    }
    let known = |name: &&str| LABS.into_iter().find(|lab| lab == name);
    only.iter()
        .map(|name| known(name).unwrap_or_else(|| panic!("no lab '{name}': {LABS:?}")))
        .collect()
}

/// Quantile `q` of unsorted values, by definition 7 of Hyndman and Fan: docs/output.md.
fn quantile(values: &[f64], q: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = q * (sorted.len() as f64 - 1.0);
    let whole = |at: f64| sorted[at as usize];
    whole(at.floor()) + (at - at.floor()) * (whole(at.ceil()) - whole(at.floor()))
}

/// Nanoseconds as milliseconds.
fn ms(ns: i64) -> f64 {
    ns as f64 / 1e6
}

/// Octets in a time as Mbit/s.
fn mbps(octets: u64, ns: i64) -> f64 {
    octets as f64 * 8e3 / ns as f64
}
