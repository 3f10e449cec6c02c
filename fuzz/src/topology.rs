//! A lab's description: refused in one line, or a network whose client reaches its servers.

use lab::Topology;

/// Runs the target on an input.
pub fn run(octets: &[u8]) {
    let Ok(text) = std::str::from_utf8(octets) else {
        return;
    };
    match Topology::parse(text, "fuzz.toml") {
        Ok(topology) => {
            assert_eq!(topology.servers().first(), Some(&topology.server.as_str()));
            for server in topology.servers() {
                let way = topology.way_to(server);
                assert_eq!(way.first(), Some(&topology.client.as_str()));
                assert_eq!(way.last(), Some(&server));
            }
        }
        Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
    }
}
