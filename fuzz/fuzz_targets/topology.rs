//! A lab's description: refused in one line, or a network whose client reaches its servers.
#![no_main]

use lab::Topology;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| match Topology::parse(text, "fuzz.toml") {
    Ok(topology) => {
        assert_eq!(topology.servers().first(), Some(&topology.server.as_str()));
        for server in topology.servers() {
            let way = topology.way_to(server);
            assert_eq!(way.first(), Some(&topology.client.as_str()));
            assert_eq!(way.last(), Some(&server));
        }
    }
    Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
});
