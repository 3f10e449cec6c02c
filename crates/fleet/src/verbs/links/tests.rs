//! The entries that an operator reads.

use super::*;
use crate::links::Sides;
use std::net::IpAddr;

const FILE: &str = r#"
name = "mesh"
[[host]]
name = "a1"
[[host]]
name = "a2"
[[host]]
name = "b1"
[[host]]
name = "b2"
[[host]]
name = "c1"
[[host]]
name = "c2"
[[measure]]
name = "load"
run = "rrul"
pairs = { mesh = ["all"] }
takes = "1min"
every = "1h"
"#;

/// A link whose pairs were all traced.
fn link(sides: [&[&str]; 2], router: &str, rises: &[f64]) -> Shared {
    let names = |hosts: &[&str]| hosts.iter().map(|name| name.parse().unwrap()).collect();
    let sides: Sides = sides.map(names);
    let [here, there] = &sides;
    let pairs = here
        .iter()
        .flat_map(|a| there.iter().map(|b| [a.clone(), b.clone()]));
    let router: IpAddr = router.parse().unwrap();
    Shared {
        pairs: pairs.collect(),
        sides,
        routers: [router].into(),
        traces: (0..9).collect(),
        rises: rises.iter().copied().enumerate().collect(),
    }
}

fn report(links: Vec<Shared>, file: &FleetFile) -> Report<'_> {
    let found = Found {
        links,
        ..Found::default()
    };
    Report {
        file,
        paths: 30,
        traces: 60,
        names: names(&found.links, file),
        found,
    }
}

fn file(text: &str) -> FleetFile {
    FleetFile::parse(text, "mesh.toml").unwrap()
}

#[test]
fn what_is_printed_can_be_appended_to_the_file() {
    let one = file(FILE);
    let uplink = link(
        [&["a1", "a2"], &["b1", "b2", "c1", "c2"]],
        "192.0.2.9",
        &[80.0, 90.0],
    );
    let found = vec![
        uplink.clone(),
        link([&["a1", "a2"], &["b1", "b2"]], "192.0.2.13", &[70.0]),
        link(
            [&["b1", "b2"], &["c1", "c2"]],
            "2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff",
            &[],
        ),
    ];
    let page = report(found.clone(), &one).entries();
    let whole = file(&format!("{FILE}{page}"));
    let [added] = &whole.links[..] else {
        panic!("{page}");
    };
    assert_eq!(added.name.as_str(), "link-192-0-2-9");
    assert_eq!(added.behind.len(), 2);
    assert!(
        page.contains("in 2 of them delay under load begins to rise here, by 85.0 ms"),
        "{page}"
    );
    assert!(
        page.contains("All its pairs also cross 'link-192-0-2-9'"),
        "{page}"
    );
    // The third may be of use one day.
    let marked = page.lines().filter_map(|line| line.strip_prefix("# "));
    let marked: Vec<_> = marked.skip_while(|line| *line != "[[link]]").collect();
    let added = file(&format!("{FILE}{}", marked.join("\n")));
    assert!(added.links[0].between.is_some(), "{marked:?}");
    let again = report(found, &whole).entries();
    assert!(
        again.contains("The file has it: 'link-192-0-2-9'."),
        "{again}"
    );
    assert!(
        again
            .lines()
            .all(|line| line.starts_with('#') || line.is_empty()),
        "{again}"
    );
    // Two of its eight pairs were not traced: it may be another link for them.
    let mut partly = uplink;
    partly.pairs.pop_first();
    let page = report(vec![partly], &one).entries();
    assert!(page.contains("of 7 of 8 host pairs"), "{page}");
    assert!(
        page.lines()
            .all(|line| line.starts_with('#') || line.is_empty()),
        "{page}"
    );
    assert!(report(Vec::new(), &one).entries().contains("None found"));
}

#[test]
fn two_links_behind_one_router_have_two_names_and_the_file_s_are_left_alone() {
    let sides: [[&[&str]; 2]; 2] = [
        [&["a1", "a2"], &["b1", "b2"]],
        [&["a1", "a2"], &["c1", "c2"]],
    ];
    let found = sides
        .map(|sides| link(sides, "192.0.2.9", &[80.0]))
        .to_vec();
    let one = file(FILE);
    let page = report(found.clone(), &one).entries();
    let two = file(&format!("{FILE}{page}"));
    let named = |file: &FleetFile| -> Vec<_> {
        file.links
            .iter()
            .map(|link| link.name.to_string())
            .collect()
    };
    assert_eq!(named(&two), ["link-192-0-2-9", "link-192-0-2-9-2"]);
    // A third pair of sides, seen later.
    let wider = link(
        [&["a1", "a2"], &["b1", "b2", "c1", "c2"]],
        "192.0.2.9",
        &[80.0],
    );
    let page = report(vec![wider], &two).entries();
    let three = file(&format!("{FILE}{}{page}", report(found, &one).entries()));
    assert_eq!(named(&three)[2], "link-192-0-2-9-3");
}

#[test]
fn programs_get_the_same() {
    let one = file(FILE);
    let uplink = link(
        [&["a1", "a2"], &["b1", "b2", "c1", "c2"]],
        "192.0.2.9",
        &[80.0],
    );
    let trunk = link([&["a1", "a2"], &["b1", "b2"]], "192.0.2.13", &[70.0]);
    let told = report(vec![uplink, trunk], &one).json();
    let links = &told["links"];
    assert_eq!(links[0]["sides"][0], json!(["a1", "a2"]));
    assert_eq!(links[0]["routers"], json!(["192.0.2.9"]));
    assert_eq!(
        (&links[0]["rise_ms"], &links[0]["queue"]),
        (&json!(80.0), &json!(true))
    );
    assert_eq!(
        (&links[0]["in_file"], &links[0]["within"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(links[1]["within"], "link-192-0-2-9");
}
