use super::*;
use proptest::prelude::*;

const MESH: &str = r#"
name = "mesh"
[[host]]
name = "a"
tags = ["wired"]
[[host]]
name = "b"
tags = ["wired"]
[[host]]
name = "c"
[[measure]]
name = "rtt"
run = "estimate rtt"
pairs = { mesh = ["all"] }
takes = "8s"
every = "10min"
"#;

fn message(text: &str) -> String {
    FleetFile::parse(text, "my.toml").unwrap_err().to_string()
}

/// What is said of the mesh with `line` at its end, which is its measurement's.
fn with(line: &str) -> String {
    message(&format!("{MESH}{line}"))
}

/// What is said of the mesh with one line another.
fn instead(old: &str, new: &str) -> String {
    assert!(MESH.contains(old), "{old}");
    message(&MESH.replacen(old, new, 1))
}

#[test]
fn hosts_are_selected_by_name_by_tag_and_all() {
    let fleet = FleetFile::parse(MESH, "my.toml").unwrap();
    let select = |names: &[&str]| {
        let names: Vec<Name> = names.iter().map(|name| name.parse().unwrap()).collect();
        fleet.select(&names)
    };
    assert_eq!(select(&["c", "wired"]), Ok(vec![0, 1, 2]));
    assert_eq!(select(&["wired", "a"]), Ok(vec![0, 1]));
    assert_eq!(select(&["all"]), Ok(vec![0, 1, 2]));
    assert!(
        select(&["d"])
            .unwrap_err()
            .contains("neither a host nor a tag")
    );
}

#[test]
fn a_measurement_may_have_thresholds() {
    let text = format!(
        "{MESH}[[measure.threshold]]\nfigure = 'value'\nabove = 60\n[[measure.threshold]]\nbelow = 1.5"
    );
    let fleet = FleetFile::parse(&text, "my.toml").unwrap();
    let [first, second] = &fleet.measures[0].thresholds[..] else {
        panic!("{:?}", fleet.measures[0].thresholds)
    };
    assert_eq!(
        (first.figure.as_deref(), first.above),
        (Some("value"), Some(60.0))
    );
    assert_eq!((second.figure.as_deref(), second.below), (None, Some(1.5)));
    let said = with("[[measure.threshold]]\nfigure = 'value'");
    assert!(
        said.contains("measure 'rtt': a threshold without a bound"),
        "{said}"
    );
    assert!(with("[[measure.threshold]]\nover = 3").contains("unknown field"));
}

#[test]
fn only_estimates_do_not_load_unless_the_file_says_so() {
    let mut measure = FleetFile::parse(MESH, "my.toml")
        .unwrap()
        .measures
        .remove(0);
    assert!(!measure.is_load());
    measure.loads = Some(true);
    assert!(measure.is_load());
    measure.loads = None;
    // Of estimates one fills its path, wherever its options stand.
    for (run, is_load, is_traced) in [
        ("rrul --duration 10s", true, true),
        ("btc", true, false),
        ("estimate available", false, false),
        ("estimate bottleneck --duration 5s", true, true),
        ("estimate --duration 5s bottleneck", true, true),
    ] {
        run.clone_into(&mut measure.run);
        assert_eq!(
            (measure.is_load(), measure.is_traced()),
            (is_load, is_traced),
            "{run}"
        );
    }
}

#[test]
fn what_cannot_be_carried_out_is_told_in_one_line() {
    assert_eq!(
        with("speed = 9"),
        "my.toml line 17: unknown field `speed`, expected one of `name`, `run`, `pairs`, `takes`, `every`, `phase`, `poisson`, \
         `cron`, `on_demand`, `windows`, `patience`, `octets`, `daily`, `loads`, `threshold` - remove it, or correct its name"
    );
    assert!(instead("name = \"b\"", "name = \"a\"").contains("two of [[host]] 'a' - rename"));
    assert!(instead("\"wired\"", "\"c\"").contains("'c' is both a host and a tag"));
    assert!(instead("\"wired\"", "\"all\"").contains("'all' means every host"));
    assert!(instead("name = \"b\"", "name = \"b.c\"").contains("'b.c' is no name"));
    assert!(instead("estimate rtt", "serve --open").contains("no measurement between two hosts"));
    assert!(instead("estimate rtt", "rrul --lab=dsl").contains("--lab=dsl in 'run'"));
    assert!(instead("estimate rtt", "rrul --ndjson x").contains("--ndjson in 'run'"));
    assert!(instead("estimate rtt", "rrul --plan ../x").contains("../x in 'run' is a file"));
    assert!(instead("estimate rtt", "mbm compose").contains("compose in 'run' is no option"));
    assert!(instead("mesh = [\"all\"]", "mesh = [\"a\"]").contains("fewer than two hosts"));
    assert!(instead("mesh = [\"all\"]", "mesh = [\"z\"]").contains("'z' is neither"));
    assert!(instead("mesh = [\"all\"]", "ring = [\"all\"]").contains("unknown variant `ring`"));
    assert!(instead("every = \"10min\"", "").contains("does not say when"));
    assert!(instead("every = \"10min\"", "every = \"1ms\"").contains("write 1s to 24h"));
    assert!(instead("every = \"10min\"", "every = 10").contains("line 16: "));
    assert!(with("poisson = \"1min\"").contains("keep one of them"));
    assert!(with("cron = \"0 9 * * *\"").contains("it has 'every' and 'cron' - keep one"));
    assert!(
        instead("every = \"10min\"", "cron = \"9\"").contains("line 16: '9' is no crontab of five")
    );
    assert!(
        instead("every = \"10min\"", "on_demand = true\nphase = \"1s\"").contains("remove 'phase'")
    );
    let phase = "cron = \"0 9 * * *\"\nphase = \"1s\"";
    assert!(instead("every = \"10min\"", phase).contains("a phase is of 'every', not of 'cron'"));
    assert!(with("windows = [\"8-18\"]").contains("'8-18' is no window"));
    assert!(message("name = \"x\"").contains("missing field"));
}

#[test]
fn budgets_that_no_run_fits_in_are_refused() {
    let daily = |line: &str| message(&format!("{MESH}daily = \"1MB\"\n{line}"));
    assert!(daily("").contains("pair of 'rtt' has a budget of 1MB a day - state with octets"));
    assert!(
        daily("octets = \"2MB\"")
            .contains("one run takes 2MB, and pair of 'rtt' has a budget of 1MB a day")
    );
    let text = MESH.replacen("name = \"c\"", "name = \"c\"\ndaily = \"1MB\"", 1);
    assert!(
        message(&format!("{text}octets = \"2MB\"")).contains("host 'c' has a budget of 1MB a day")
    );
    assert!(FleetFile::parse(&format!("{text}octets = \"1MB\""), "").is_ok());
}

#[test]
fn a_link_says_whose_it_is() {
    let link = |line: &str| message(&format!("{MESH}[[link]]\nname = \"l\"\n{line}"));
    assert!(link("").contains("does not say whose it is"));
    assert!(link("behind = [\"q\"]").contains("link 'l': 'q' is neither"));
    assert!(link("behind = [\"a\"]\nbetween = [[\"a\"], [\"b\"]]").contains("keep one"));
}

proptest! {
    #[test]
    fn any_text_is_a_fleet_or_one_line(text in ".{0,200}", at in 0..MESH.len(), new in "[a-z\"\\[\\]{}=0-9.]{0,6}") {
        let lines = |error: FileError| error.to_string().lines().count();
        if let Err(error) = FleetFile::parse(&text, "f") {
            prop_assert_eq!(lines(error), 1);
        }
        let changed = format!("{}{new}{}", &MESH[..at], &MESH[at..]);
        if let Err(error) = FleetFile::parse(&changed, "f") {
            prop_assert_eq!(lines(error), 1);
        }
    }
}
