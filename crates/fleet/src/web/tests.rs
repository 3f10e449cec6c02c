//! Pages as a browser gets them, of a fleet that is made up.

use super::board::{Board, Told};
use super::history::{self, Pair};
use super::html::{self, escape};
use super::matrix::{self, About};
use super::state::State;
use crate::account::Counts;
use crate::outcome::{Became, HandedOver, Outcome, Times};
use crate::revisions::Document;
use crate::verbs::Program;
use crate::{Moment, Name, RunId};
use kit::register::Register;
use record::Verdict;
use std::time::Duration;

static NOTHING: Register = Register {
    measurements: &[],
    far_ends: &[],
    page: None,
};

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

fn at(minute: u64) -> Moment {
    let start: Moment = "2026-11-25T08:00:00Z".parse().unwrap();
    start + Duration::from_secs(60 * minute)
}

fn outcome(pair: [&str; 2], minute: u64, status: Became) -> Outcome {
    let [from, to] = pair.map(name);
    let instant = at(minute);
    let run = RunId {
        fleet: name("mesh"),
        measure: name("rtt"),
        from,
        to,
        instant,
    };
    let times = Times {
        planned: instant,
        began: None,
        ended: instant,
    };
    Outcome::without_record(run, None, times, status, "<b>no route</b>".to_owned())
}

fn about<'a>(fleet: &'a Name, absent: &'a [Name]) -> About<'a> {
    About {
        fleet,
        paused: false,
        hosts: 32,
        absent,
        recent: (Duration::from_secs(3_600), Counts::default()),
        now: at(60),
        since: at(0),
    }
}

/// Gives the last run of a pair a figure, as if its record had had one.
fn with_figure(board: &mut Board, pair: [&str; 2], value: f64) {
    let measured = board.measures.get_mut(&name("rtt")).unwrap();
    measured.figure = Some(["estimate".to_owned(), "ms".to_owned()]);
    let runs = measured.pairs.get_mut(&pair.map(name)).unwrap();
    *runs.last_entry().unwrap().get_mut() = Told {
        status: Became::Complete,
        verdict: None,
        value: Some(value),
        reason: None,
        is_beyond: false,
        has_record: true,
    };
}

#[test]
fn a_matrix_has_a_cell_for_each_pair_and_says_how_many_should_be_looked_at() {
    let mut board = Board::default();
    let hosts: Vec<String> = (0..32).map(|n| format!("host-{n}")).collect();
    for from in &hosts {
        for to in hosts.iter().filter(|to| *to != from) {
            board.take(&outcome([from, to], 1, Became::Complete), &NOTHING, &[]);
            with_figure(&mut board, [from, to], 24.125);
        }
    }
    board.take(
        &outcome(["host-3", "host-4"], 2, Became::Failed),
        &NOTHING,
        &[],
    );
    let (fleet, absent) = (name("mesh"), [name("host-31")]);
    let page = matrix::content(&about(&fleet, &absent), &board);
    assert!(page.starts_with("<h1>1 of 992 paths of 'mesh' should be looked at</h1>"));
    assert_eq!(page.matches("<a href=\"/fleet/mesh/rtt/").count(), 992);
    assert_eq!(page.matches("<td class=\"measured\">").count(), 991);
    assert_eq!(page.matches("<td class=\"none\">").count(), 32);
    assert!(page.contains("1 of 32 hosts have no agent that is there: host-31."));
    // Below 1 MB, so that it is there at once.
    assert!(page.len() < 1_000_000, "{}", page.len());
    let failed = page
        .split("/fleet/mesh/rtt/host-3/host-4\"")
        .nth(1)
        .unwrap();
    let failed = failed.split("</td>").next().unwrap();
    assert!(
        failed.contains("<b>24.1</b>") && failed.contains("1/2, 24.1"),
        "{failed}"
    );
    assert!(failed.contains("nothing</span>"), "{failed}");
}

/// A thousand cells in a real browser: all are laid out, and each is as wide as what is in it.
#[test]
fn a_browser_lays_a_thousand_cells_out() {
    let mut board = Board::default();
    for from in 0..32 {
        for to in (0..32).filter(|to| *to != from) {
            let ends = [format!("host-{from}"), format!("host-{to}")];
            let pair = [&*ends[0], &*ends[1]];
            board.take(&outcome(pair, 1, Became::Complete), &NOTHING, &[]);
            with_figure(&mut board, pair, f64::from(from * to));
        }
    }
    let fleet = name("mesh");
    let content = matrix::content(&about(&fleet, &[]), &board);
    // What a person would see by looking.
    let look = "<script>const all = [...document.querySelectorAll('.matrix td a')]; const wide = all.filter((a) => a.scrollWidth > a.clientWidth + 1 || a.clientWidth < 60); \
                document.title = `${all.length} cells, ${wide.length} cut, ${document.querySelector('.scroll').scrollWidth > 1200}`;</script>";
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("page.html");
    std::fs::write(&file, html::page("mesh", &[], &content) + look).unwrap();
    let mut browser = std::process::Command::new("chromium");
    browser.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--window-size=1200,900",
        "--dump-dom",
    ]);
    let Ok(shown) = browser.arg(format!("file://{}", file.display())).output() else {
        assert!(
            std::env::var_os("ISOBATH_TEST_NO_SKIP").is_none(),
            "no chromium - run scripts/setup.sh test"
        );
        eprintln!("skipped: there is no chromium");
        return;
    };
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(
        shown.contains("<title>992 cells, 0 cut, true</title>"),
        "{}",
        shown.get(..600).unwrap_or_default()
    );
}

#[test]
fn a_history_tells_each_run_and_leads_to_its_record() {
    let mut board = Board::default();
    for minute in 0..30 {
        let pair = ["a", "b"];
        board.take(&outcome(pair, minute, Became::Complete), &NOTHING, &[]);
        with_figure(&mut board, pair, 20.0 + minute as f64);
    }
    board.take(&outcome(["a", "b"], 30, Became::Invalid), &NOTHING, &[]);
    let (fleet, measure, ends) = (name("mesh"), name("rtt"), [name("a"), name("b")]);
    let pair = Pair {
        fleet: &fleet,
        measure: &measure,
        ends: &ends,
        now: at(31),
        since: at(0),
    };
    let page = history::content(&pair, &board.measures[&measure]).unwrap();
    assert!(
        page.contains("<h1>rtt from a to b is 49.0 ms, the median of 30 runs 34.5 ms</h1>"),
        "{page}"
    );
    assert_eq!(page.matches("<circle").count(), 30);
    // The last ten minutes: 21 to 29, and the one that is invalid; in all, the nineteenth of twenty is 95 %.
    assert!(page.contains("<th scope=\"row\">10 min</th><td>10</td><td>9</td><td>41.0</td><td>45.0</td><td>-</td><td>49.0</td>"), "{page}");
    assert!(
        page.contains("<td>31</td><td>30</td><td>20.0</td><td>34.5</td><td>48.0</td><td>49.0</td>"),
        "{page}"
    );
    assert!(page.contains("<a href=\"/run/mesh.rtt.a.b.20261125T082900000Z\">report</a>"));
    // What an agent says is text, whatever it is.
    assert!(page.contains("&lt;b&gt;no route&lt;/b&gt;") && !page.contains("<b>no route"));
    let other = Pair {
        ends: &[name("b"), name("a")],
        ..pair
    };
    assert_eq!(history::content(&other, &board.measures[&measure]), None);
}

#[test]
fn a_verdict_that_failed_is_a_word_and_not_a_colour_alone() {
    let mut board = Board::default();
    let mut failed = outcome(["a", "b"], 1, Became::Complete);
    failed.verdict = Some(Verdict::Fail);
    board.take(&failed, &NOTHING, &[]);
    let fleet = name("mesh");
    let page = matrix::content(&about(&fleet, &[]), &board);
    assert!(
        page.contains("<td class=\"fail\">") && page.contains(">FAIL</span>"),
        "{page}"
    );
    assert!(page.contains("1 of 1 paths"), "{page}");
}

#[test]
fn a_figure_beyond_a_threshold_is_told_in_cell_and_history() {
    let mut board = Board::default();
    board.take(&outcome(["a", "b"], 1, Became::Complete), &NOTHING, &[]);
    with_figure(&mut board, ["a", "b"], 75.0);
    let measured = board.measures.get_mut(&name("rtt")).unwrap();
    let runs = measured.pairs.get_mut(&["a", "b"].map(name)).unwrap();
    let mut last = runs.last_entry().unwrap();
    last.get_mut().is_beyond = true;
    last.get_mut().reason = Some("value 75.0 ms is above 60.0".into());
    let (fleet, measure) = (name("mesh"), name("rtt"));
    let page = matrix::content(&about(&fleet, &[]), &board);
    assert!(
        page.contains("1 of 1 paths") && page.contains(">threshold</span>"),
        "{page}"
    );
    let pair = Pair {
        fleet: &fleet,
        measure: &measure,
        ends: &["a", "b"].map(name),
        now: at(31),
        since: at(0),
    };
    let page = history::content(&pair, &board.measures[&measure]).unwrap();
    assert!(page.contains("value 75.0 ms is above 60.0"), "{page}");
}

#[test]
fn what_is_old_is_forgotten_and_what_is_told_twice_counts_once() {
    let mut board = Board::default();
    for minute in [1, 1, 5, 9] {
        board.take(
            &outcome(["a", "b"], minute, Became::Complete),
            &NOTHING,
            &[],
        );
    }
    let run = |minute| outcome(["a", "b"], minute, Became::Complete).run;
    board.take_forged(run(2));
    assert_eq!(board.status(&run(1)), Some(Became::Complete));
    board.forget(at(5), at(60));
    assert_eq!(board.since, at(5));
    assert_eq!(
        (board.status(&run(1)), board.status(&run(5))),
        (None, Some(Became::Complete))
    );
    assert!(board.forged.is_empty());
    board.forget(at(10), at(60));
    assert!(board.measures.is_empty());
    // What is forgotten stays so, though it is told again.
    board.forget(at(3), at(60));
    board.take(&outcome(["a", "b"], 9, Became::Complete), &NOTHING, &[]);
    assert!(board.measures.is_empty() && board.since == at(10));
}

#[test]
fn what_an_agent_says_is_cut_and_a_missing_run_spoils_the_sentence() {
    let mut board = Board::default();
    let mut wordy = outcome(["a", "b"], 1, Became::Complete);
    wordy.reason = Some("é".repeat(1_000_000));
    board.take(&wordy, &NOTHING, &[]);
    let runs = board
        .measures
        .values()
        .flat_map(|measured| measured.pairs.values());
    let told = runs.flat_map(|runs| runs.values()).next().unwrap();
    assert_eq!(told.reason.as_deref().unwrap().chars().count(), 200);
    let fleet = name("mesh");
    let mut about = about(&fleet, &[]);
    assert!(matrix::content(&about, &board).contains("is measured, and does not fail"));
    about.recent.1.missing = 3;
    let page = matrix::content(&about, &board);
    assert!(
        page.starts_with("<h1>3 runs of 'mesh' are missing; "),
        "{page}"
    );
}

#[test]
fn an_outcome_waits_for_the_revision_that_planned_it_and_not_for_ever() {
    let program = Program {
        register: &NOTHING,
        takes: |_| Ok(()),
    };
    let told = |pair| HandedOver {
        outcome: outcome(pair, 5, Became::Complete),
        signer: None,
    };
    let mut state = State::default();
    state.take(told(["a", "b"]), program, at(6));
    state.take(told(["a", "stranger"]), program, at(6));
    let file = "name = 'mesh'\n[[host]]\nname = 'a'\n[[host]]\nname = 'b'\n[[measure]]\nname = 'rtt'\nrun = 'estimate rtt'\n\
                pairs = { mesh = ['all'] }\ntakes = '20s'\nevery = '1min'";
    let document = Document {
        file: file.to_owned(),
        since: at(4),
        paused: false,
    };
    state.revise(name("mesh"), vec![(1, document)], at(0));
    let known = |state: &State, pair| {
        let fleet = &state.fleets[&name("mesh")];
        fleet.board.status(&told(pair).outcome.run)
    };
    assert_eq!(known(&state, ["a", "b"]), None);
    state.take_again(program, at(6));
    assert_eq!(known(&state, ["a", "b"]), Some(Became::Complete));
    // No host of this name: neither shown nor kept.
    assert_eq!(known(&state, ["a", "stranger"]), None);
    state.take(told(["b", "a"]), program, at(4));
    assert_eq!(known(&state, ["b", "a"]), Some(Became::Complete));
    // A run of tomorrow has no outcome yet.
    let mut early = told(["b", "a"]);
    early.outcome.run.instant = at(1_000);
    let run = early.outcome.run.clone();
    state.take(early, program, at(6));
    assert_eq!(state.fleets[&name("mesh")].board.status(&run), None);
}

#[test]
fn no_text_can_be_more_than_text() {
    assert_eq!(
        escape("<a href='x'>\"&"),
        "&lt;a href=&#39;x&#39;&gt;&quot;&amp;"
    );
    let page = html::page("<script>", &[], "");
    assert!(page.contains("<title>&lt;script&gt; - Isobath</title>"));
}

#[test]
fn a_page_runs_its_own_script_alone() {
    let page = html::page("Fleets", &[], "");
    let answer = html::answer(hyper::StatusCode::OK, page);
    let policy = answer.headers()["content-security-policy"]
        .to_str()
        .unwrap();
    assert!(
        policy.starts_with("default-src 'none'") && policy.contains("script-src 'sha256-"),
        "{policy}"
    );
    assert_eq!(
        answer
            .headers()
            .get_all("content-security-policy")
            .iter()
            .count(),
        1
    );
}
