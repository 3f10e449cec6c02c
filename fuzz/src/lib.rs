//! Fuzz targets: everything that reads octets from a network or a file.
//!
//! Each module is one of them: `run` takes any octets, and panics when an invariant does not hold. `fuzz_targets/` gives them to libFuzzer;
//! `tests/corpus.rs` runs them on the corpus and on mutations of it.
#![expect(
    clippy::missing_panics_doc,
    reason = "a target panics to tell what it has found"
)]

pub mod access_key;
pub mod browser;
pub mod bundle;
pub mod capture;
pub mod control_line;
pub mod cvec;
pub mod datagram;
pub mod dns_answer;
pub mod dns_reply;
pub mod extract;
pub mod far_end;
pub mod far_setup;
pub mod fit;
pub mod fleet_file;
pub mod flent_import;
pub mod iperf3;
pub mod mgrp;
pub mod mgrp_message;
pub mod mgrp_peer;
pub mod ndt7;
pub mod nq;
pub mod page_model;
pub mod preamble;
pub mod receiver;
pub mod segment;
pub mod socks;
pub mod target;
pub mod topology;
pub mod trace;
pub mod tun_read;
pub mod twamp;
pub mod udpst;

/// What is fuzzed: takes any octets, and panics when an invariant does not hold.
pub type Run = fn(&[u8]);

/// All targets, by name.
pub const TARGETS: [(&str, Run); 32] = [
    ("access_key", access_key::run),
    ("browser", browser::run),
    ("bundle", bundle::run),
    ("capture", capture::run),
    ("control_line", control_line::run),
    ("cvec", cvec::run),
    ("datagram", datagram::run),
    ("dns_answer", dns_answer::run),
    ("dns_reply", dns_reply::run),
    ("extract", extract::run),
    ("far_end", far_end::run),
    ("far_setup", far_setup::run),
    ("fit", fit::run),
    ("fleet_file", fleet_file::run),
    ("flent_import", flent_import::run),
    ("iperf3", iperf3::run),
    ("mgrp", mgrp::run),
    ("mgrp_message", mgrp_message::run),
    ("mgrp_peer", mgrp_peer::run),
    ("ndt7", ndt7::run),
    ("nq", nq::run),
    ("page_model", page_model::run),
    ("preamble", preamble::run),
    ("receiver", receiver::run),
    ("segment", segment::run),
    ("socks", socks::run),
    ("target", target::run),
    ("topology", topology::run),
    ("trace", trace::run),
    ("tun_read", tun_read::run),
    ("twamp", twamp::run),
    ("udpst", udpst::run),
];
