use super::*;

const DUMBBELL: &str = r#"
    summary = "test"
    client = "a"
    server = "d"
    hosts = ["a", "d"]
    routers = ["b", "c"]
    link = [
        { between = ["a", "b"], up = [], down = [] },
        { between = ["b", "c"], up = [], down = [] },
        { between = ["c", "d"], up = [], down = [] },
    ]
"#;

fn refused(from: &str, to: &str) -> String {
    let text = DUMBBELL.replacen(from, to, 1);
    Topology::parse(&text, "test.toml").unwrap_err().to_string()
}

#[test]
fn the_way_is_the_shortest() {
    let topology = Topology::parse(DUMBBELL, "test.toml").unwrap();
    assert_eq!(topology.way(), ["a", "b", "c", "d"]);
    assert_eq!(topology.next_hop("d", "a"), Some("c"));
    assert_eq!(topology.next_hop("b", "a"), Some("a"));
    let addresses = topology.addresses("d").unwrap();
    assert_eq!(
        addresses.iter().map(IpAddr::to_string).collect::<Vec<_>>(),
        ["10.77.0.2", "fd77::2"]
    );
}

#[test]
fn servers_are_in_order_and_each_has_its_way() {
    let text = DUMBBELL.replacen(r#""d""#, "\"d\"\nmore_servers = [\"c\"]", 1);
    let topology = Topology::parse(&text, "test.toml").unwrap();
    assert_eq!(topology.servers(), ["d", "c"]);
    assert_eq!(topology.way_to("c"), ["a", "b", "c"]);
    assert_eq!(topology.way(), topology.way_to("d"));
}

#[test]
fn without_ipv6_a_node_has_one_address() {
    let text = DUMBBELL.replacen(r#""d""#, "\"d\"\nipv6 = false", 1);
    let topology = Topology::parse(&text, "test.toml").unwrap();
    assert_eq!(topology.addresses("d").unwrap().len(), 1);
}

#[test]
fn a_topology_survives_writing_and_reading() {
    let limit = "limit = [{ host = \"a\", cpu = \"12.5%\" }]\nlink = [";
    let text = DUMBBELL.replacen("link = [", limit, 1);
    let topology = Topology::parse(&text, "test.toml").unwrap();
    let again = toml::to_string(&topology).unwrap();
    let again = Topology::parse(&again, "again.toml").unwrap();
    assert!((again.limits[0].cpu.get() - 0.125).abs() < 1e-12);
    assert!(again.ipv6 && again.more_servers.is_empty());
}

#[test]
fn what_does_not_hang_together_is_refused_in_one_line() {
    let cases = [
        (
            r#"["a", "d"]"#,
            r#"["a", "a", "d"]"#,
            "node 'a' is listed twice",
        ),
        (
            r#"client = "a""#,
            r#"client = "z""#,
            "node 'z' is in neither",
        ),
        (r#"["c", "d"]"#, r#"["c", "c"]"#, "none to themselves"),
        (
            r#"["c", "d"]"#,
            r#"["a", "c"]"#,
            "no links lead from 'a' to 'd'",
        ),
        (
            r#"server = "d""#,
            "server = \"d\"\nmore_servers = [\"d\"]",
            "server 'd' is named twice",
        ),
        (
            r#"server = "d""#,
            "server = \"d\"\nmore_servers = [\"a\"]",
            "'a' is the client",
        ),
        (
            r#"server = "d""#,
            "server = \"d\"\nmore_servers = [\"z\"]",
            "node 'z' is in neither",
        ),
        (
            "link = [",
            "limit = [{ host = \"z\", cpu = \"20%\" }]\nlink = [",
            "node 'z' is in neither",
        ),
        (
            "link = [",
            "limit = [{ host = \"a\", cpu = \"20%\" }, { host = \"a\", cpu = \"9%\" }]\nlink = [",
            "host 'a' has two limits",
        ),
        (
            "link = [",
            "limit = [{ host = \"a\", cpu = \"200%\" }]\nlink = [",
            "'200%' is not a share of one processor - write 1% to 100%, such as 20%",
        ),
        (
            "link = [",
            "limit = [{ host = \"a\", cpu = \"0.2\" }]\nlink = [",
            "'0.2' is not a share",
        ),
        (
            r#""d"]"#,
            r#""with space"]"#,
            "'with space' is not a node name",
        ),
    ];
    for (from, to, expected) in cases {
        let message = refused(from, to);
        assert!(
            message.contains(expected) && !message.contains('\n'),
            "{message}"
        );
    }
}

#[test]
fn malformed_toml_is_told_with_its_line() {
    let message = refused(r#"summary = "test""#, "summary = 3");
    assert!(message.starts_with("test.toml line 2: "), "{message}");
    assert!(message.contains("expected a string"), "{message}");
    let message = refused("between", "betwixt");
    assert!(
        message.starts_with("test.toml line 8: unknown field `betwixt`"),
        "{message}"
    );
}
