//! The program from outside: the real binary, real namespaces, the kernel's own TCP, and records read back from disk.
//!
//! Most tests need to make networks: root, or user namespaces, and an open `/dev/net/tun`. On a machine that has neither
//! they say so and pass; with `ISOBATH_TEST_NO_SKIP` set they fail instead. Those that measure need a quiet
//! machine ([`support::Machine::quiet`]) and are named `quiet_...`, so that they do not measure the others. Nothing is asserted of wall-clock time but
//! medians, with generous bounds, and a run whose instrument was the bottleneck must say so itself ([`support::Ran::measured`]).
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed, helpers of tests included"
)]

mod batch;
mod beside;
mod btc;
mod btc_paths;
mod carrier;
mod estimate;
mod experiment;
mod far_ends;
mod fleet;
mod flent;
mod help;
mod hostile;
mod hostile_far_ends;
mod interrupted;
mod iperf3;
mod iperf3_server;
mod killed;
mod labs;
mod live;
mod manager;
mod mbm;
mod mbm_mishaps;
mod mbm_streams;
mod mbm_tcp;
mod measure;
mod medianet;
mod mistakes;
mod ndt7;
mod oracle;
mod packet_log;
mod quic;
mod records;
mod replay;
mod replay_udp;
mod resolvers;
mod rpm;
mod service;
mod sets;
mod sim;
mod sim_kernel;
mod sim_mbm;
mod sim_replay;
mod sim_rrul;
mod sim_trial;
mod support;
mod sweep;
mod tcp;
mod test_page;
mod traces;
mod trial;
mod two_hosts;
mod udp_load;
mod udpst;
mod unprivileged;
mod vectors;
mod whole;
