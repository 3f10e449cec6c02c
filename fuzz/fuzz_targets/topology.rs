//! A lab's description: refused in one line, or a network whose client reaches its server.
#![no_main]

use lab::Topology;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| match Topology::parse(text, "fuzz.toml") {
    Ok(topology) => {
        let way = topology.way();
        assert_eq!(way.first(), Some(&topology.client.as_str()));
        assert_eq!(way.last(), Some(&topology.server.as_str()));
    }
    Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
});
