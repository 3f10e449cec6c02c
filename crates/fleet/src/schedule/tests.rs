use super::*;
use std::collections::{BTreeMap, HashSet};

/// Hosts `h0`, `h1`, ... of which the first two are behind a link.
fn plan_of(hosts: u32, measure: &str) -> Plan {
    let hosts: Vec<_> = (0..hosts)
        .map(|n| format!("[[host]]\nname = 'h{n}'\n"))
        .collect();
    let hosts = hosts.concat();
    let text = format!(
        "name = 'f'\nseed = 3\n{hosts}[[link]]\nname = 'uplink'\nbehind = ['h0', 'h1']\n[[measure]]\nname = 'm'\n{measure}"
    );
    Plan::new(FleetFile::parse(&text, "test").unwrap())
}

fn day() -> Day {
    "2026-11-25T00:00:00Z".parse::<Moment>().unwrap().day()
}

fn of(plan: &Plan) -> Schedule {
    plan.of(day(), Moment::default())
}

const LOAD: &str = "run = 'btc'\ntakes = '20s'\npairs = { mesh = ['all'] }\n";
const PROBE: &str = "run = 'estimate rtt'\ntakes = '20s'\npairs = { mesh = ['all'] }\n";

#[test]
fn every_run_has_an_identity_of_its_own_and_is_the_same_everywhere() {
    let plan = plan_of(5, &format!("{LOAD}poisson = '30min'"));
    let schedule = of(&plan);
    let ids: HashSet<_> = schedule.runs.iter().map(|run| plan.id(run)).collect();
    assert!(ids.len() > 700 && ids.len() == schedule.runs.len());
    assert_eq!(of(&plan).runs, schedule.runs);
    // Another measurement beside it changes no instant of it, so no identity.
    let more =
        format!("{LOAD}poisson = '30min'\n[[measure]]\nname = 'other'\nevery = '1min'\n{LOAD}");
    let more = plan_of(5, &more);
    let all: HashSet<_> = of(&more).runs.iter().map(|run| more.id(run)).collect();
    let left_out = of(&more).left_out;
    let all: HashSet<_> = all
        .into_iter()
        .chain(left_out.iter().map(|(run, _)| more.id(run)))
        .collect();
    assert!(ids.is_subset(&all));
}

#[test]
fn loads_never_meet_on_a_host_or_a_link_and_probes_wait_for_nobody() {
    let text = format!("{LOAD}every = '10min'\n[[measure]]\nname = 'p'\nevery = '1min'\n{PROBE}");
    let plan = plan_of(6, &text);
    let schedule = of(&plan);
    let mut taken: BTreeMap<String, Vec<(Moment, Moment)>> = BTreeMap::new();
    let mut links = 0;
    for run in &schedule.runs {
        if !plan.measure(run).is_load() {
            assert_eq!(run.begins, run.instant);
            continue;
        }
        assert!(run.begins >= run.instant);
        let span = (run.begins, run.begins + plan.measure(run).takes.0);
        let hosts = [run.from, run.to].map(|host| plan.host(host).to_string());
        let crossed: Vec<_> = plan.links(run).map(Name::to_string).collect();
        links += crossed.len();
        for resource in hosts.into_iter().chain(crossed) {
            taken.entry(resource).or_default().push(span);
        }
    }
    // Of 30 pairs, 16 have one end behind the link; none of them twice.
    assert_eq!(links, 16 * 144);
    for (resource, spans) in taken {
        assert!(
            spans.windows(2).all(|two| two[0].1 <= two[1].0),
            "{resource} is taken twice"
        );
    }
    assert_eq!(schedule.left_out, []);
}

#[test]
fn periods_have_a_phase_and_windows_and_begin_where_they_are_told_to() {
    let plan = plan_of(
        2,
        &format!("{PROBE}every = '1h'\nphase = '10min'\nwindows = ['22:00-02:00']"),
    );
    let hours = |schedule: &Schedule| -> Vec<String> {
        let forth = schedule.runs.iter().filter(|run| run.from == 0);
        forth
            .map(|run| run.instant.compact()[8..].to_owned())
            .collect()
    };
    let all = ["T001000000Z", "T011000000Z", "T221000000Z", "T231000000Z"];
    assert_eq!(hours(&of(&plan)), all);
    let since = day().begins() + Duration::from_secs(4_200);
    assert_eq!(hours(&plan.of(day(), since)), all[1..]);
}

#[test]
fn a_calendar_has_its_days_and_a_run_may_wait_for_its_shortest_period() {
    // The 25th of November 2026 is a Wednesday.
    let text = format!("{LOAD}cron = '0,20 9-10 * * WED'\nwindows = ['10:00-11:00']");
    let plan = plan_of(2, &text);
    let on = |day: Day| -> Vec<String> {
        let runs = plan.of(day, Moment::default()).runs;
        runs.iter().map(|run| run.instant.to_string()).collect()
    };
    let forth_and_back = ["2026-11-25T10:00:00Z"; 2];
    assert_eq!(on(day())[..2], forth_and_back);
    assert_eq!(on(day()).len(), 4);
    assert_eq!(on(day().next()), Vec::<String>::new());
    assert_eq!(
        plan.file.measures[0].patience().0,
        Duration::from_secs(20 * 60)
    );
}

#[test]
fn a_poisson_process_has_its_mean_and_each_pair_its_own() {
    let schedule = of(&plan_of(4, &format!("{PROBE}poisson = '1min'")));
    let runs = schedule.runs.len() as f64;
    // 12 pairs and 1,440 minutes; the standard deviation is 131.
    assert!((runs - 17_280.0).abs() < 600.0, "{runs}");
    let first = |from, to| {
        schedule
            .runs
            .iter()
            .find(|run| (run.from, run.to) == (from, to))
    };
    assert_ne!(first(0, 1).unwrap().instant, first(1, 0).unwrap().instant);
}

#[test]
fn random_pairs_are_all_pairs_in_time() {
    let text = "run = 'btc'\ntakes = '5s'\npairs = { random = ['all'] }\npoisson = '20s'";
    let schedule = of(&plan_of(8, text));
    let pairs: HashSet<_> = schedule.runs.iter().map(|run| (run.from, run.to)).collect();
    assert_eq!(pairs.len(), 56);
    assert!((4_000..4_700).contains(&schedule.runs.len()));
}

#[test]
fn budgets_hold_for_hosts_links_and_pairs() {
    let of_pair = of(&plan_of(
        3,
        &format!("{PROBE}every = '10min'\noctets = '1MB'\ndaily = '3500kB'"),
    ));
    assert_eq!((of_pair.runs.len(), of_pair.left_out.len()), (6 * 3, 0));
    let text = format!("{PROBE}every = '10min'\noctets = '1MB'");
    let mut file = plan_of(3, &text).file;
    file.hosts[2].daily = Some("100MB".parse().unwrap());
    let schedule = Plan::new(file.clone()).of(day(), Moment::default());
    let with = schedule
        .runs
        .iter()
        .filter(|run| [run.from, run.to].contains(&2));
    assert_eq!(with.count(), 100);
    assert!(
        schedule
            .left_out
            .iter()
            .all(|(_, why)| *why == LeftOut::NoBudget)
    );
    file.hosts[2].daily = None;
    file.links[0].daily = Some("50MB".parse().unwrap());
    let plan = Plan::new(file);
    let schedule = plan.of(day(), Moment::default());
    let crossing = schedule
        .runs
        .iter()
        .filter(|run| plan.links(run).count() == 1);
    assert_eq!(crossing.count(), 50);
}

#[test]
fn what_there_is_no_time_for_is_said() {
    let schedule = of(&plan_of(6, &format!("{LOAD}every = '5min'")));
    // At most three of 30 pairs fit beside each other in 20 s: 15 rounds in 5 minutes and no more than one at once on the link.
    assert!(
        schedule
            .left_out
            .iter()
            .all(|(_, why)| *why == LeftOut::NoRoom)
    );
    assert!(!schedule.left_out.is_empty());
    let planned = schedule.runs.len() + schedule.left_out.len();
    assert_eq!(planned, 30 * 288);
}

#[test]
fn where_there_is_too_much_for_all_each_has_its_share() {
    let schedule = of(&plan_of(
        2,
        &format!("{LOAD}every = '20s'\npatience = '5min'"),
    ));
    let of = |from| schedule.runs.iter().filter(|run| run.from == from).count();
    // Half of 8,640 runs fit.
    assert_eq!(of(0) + of(1), 4_320);
    assert!((2_000..2_320).contains(&of(0)), "{}", of(0));
}

/// Now and then asked for, with what a link and a host may have a day.
const ASKED: &str = "on_demand = true\noctets = '4MB'\nwindows = ['08:00-18:00']\n";

fn run(plan: &Plan, from: &str, to: &str, time: &str) -> Result<Planned, String> {
    let id = format!("f.m.{from}.{to}.20261125T{time}000Z");
    plan.on_demand(&id.parse().unwrap())
}

#[test]
fn what_is_asked_for_now_is_in_no_schedule_and_comes_at_once() {
    let plan = plan_of(3, &format!("{LOAD}{ASKED}"));
    assert!(of(&plan).runs.is_empty() && of(&plan).left_out.is_empty());
    let found = run(&plan, "h0", "h2", "100000").unwrap();
    assert_eq!(plan.id(&found).to_string(), "f.m.h0.h2.20261125T100000000Z");
    assert_eq!(found.begins, found.instant);
    let minute = Duration::from_secs(60);
    assert_eq!(plan.measure(&found).patience().0, minute);
    let refused = |from, to, time| run(&plan, from, to, time).unwrap_err();
    assert!(refused("h0", "h2", "183000").contains("see its 'windows'"));
    assert!(refused("h0", "h0", "100000").contains("not taken from 'h0' to 'h0'"));
    assert!(refused("h0", "h9", "100000").contains("see its 'pairs'"));
    let other = "f.x.h0.h1.20261125T100000000Z".parse().unwrap();
    assert_eq!(
        plan.on_demand(&other).unwrap_err(),
        "fleet 'f' has no measure 'x'"
    );
    let scheduled = plan_of(3, &format!("{LOAD}every = '1h'"));
    let refused = run(&scheduled, "h0", "h2", "100000").unwrap_err();
    assert!(refused.contains("add on_demand = true"), "{refused}");
}

#[test]
fn what_is_asked_for_now_spends_of_the_same_budgets() {
    let text = format!("{LOAD}{ASKED}every = '4h'\n");
    let plan = |place: &str, daily: &str| {
        let file = plan_of(4, &text).file.clone();
        let mut file = file;
        let daily = Some(daily.parse().unwrap());
        match place {
            "link" => file.links[0].daily = daily,
            "host" => file.hosts[1].daily = daily,
            "pair" => file.measures[0].daily = daily,
            _ => {}
        }
        Plan::new(file)
    };
    let free = plan("", "0B");
    let others = of(&free).runs;
    // At 8, 12 and 16 o'clock each of the 12 pairs.
    assert_eq!(others.len(), 36);
    let asked = |plan: &Plan, from, to| {
        let run = run(plan, from, to, "100000").unwrap();
        assert_eq!(
            plan.has_budget(&run),
            plan.without_budget(&run, &others).is_some()
        );
        plan.without_budget(&run, &others)
    };
    assert_eq!(asked(&free, "h0", "h2"), None);
    // Eight pairs cross the link, six have the host.
    let refused = asked(&plan("link", "99MB"), "h2", "h1").unwrap();
    assert!(
        refused.contains("link 'uplink' has a budget of 99MB a day, of which 96MB are planned"),
        "{refused}"
    );
    let refused = asked(&plan("host", "72MB"), "h2", "h1").unwrap();
    assert!(
        refused.contains("host 'h1' has a budget of 72MB a day, of which 72MB are planned"),
        "{refused}"
    );
    assert!(
        asked(&plan("pair", "12MB"), "h0", "h1")
            .unwrap()
            .contains("had its 3 runs of 'm'")
    );
    for (place, daily) in [("link", "100MB"), ("host", "76MB"), ("pair", "16MB")] {
        let plan = plan(place, daily);
        let run = run(&plan, "h0", "h2", "100000").unwrap();
        assert_eq!(plan.without_budget(&run, &others), None, "{place}");
    }
}

#[test]
fn runs_of_another_revision_are_known_by_names() {
    let plan = plan_of(3, &format!("{LOAD}every = '4h'"));
    let mut file = plan.file().clone();
    // Without its first host, and with another measurement before its own.
    file.hosts.remove(0);
    let mut other = file.measures[0].clone();
    other.name = "other".parse().unwrap();
    file.measures.insert(0, other);
    let revised = Plan::new(file);
    let renumber = revised.renumber(&plan);
    let runs = of(&plan).runs;
    let found: Vec<_> = runs
        .iter()
        .filter_map(|run| Some((run, renumber.of(run)?)))
        .collect();
    assert_eq!((runs.len(), found.len()), (36, 12));
    for (run, found) in found {
        assert_eq!(plan.id(run), revised.id(&found));
    }
}
