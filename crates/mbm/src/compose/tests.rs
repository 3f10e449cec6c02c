use super::*;
use crate::model::Model;
use crate::target::NamedTarget;
use proptest::prelude::*;

fn part(name: &str, target: &str, packets: u64, lost: u64) -> Part {
    let named = NamedTarget::find(target).unwrap();
    let run_length = named.model.run_length(&named.target).unwrap();
    Part {
        name: name.to_owned(),
        question: Question {
            target: named.target,
            model: named.model,
            run_length,
        },
        test: Test::PacedFullRate,
        outcome: Outcome::Pass,
        counts: Counts {
            packets,
            lost,
            ce: 0,
        },
        way: Way::default(),
    }
}

fn composed(one: (u64, u64), two: (u64, u64)) -> Composed {
    let parts = vec![
        part("ab", "video-rfc8337", one.0, one.1),
        part("bc", "video-rfc8337", two.0, two.1),
    ];
    compose(parts, 0.05, 0.05).unwrap()
}

/// Holds mbm/composable.
#[test]
fn loss_composes_as_rfc_6049_says() {
    assert!((loss_rate([0.01, 0.02]) - 0.0298).abs() < 1e-12);
    assert!((loss_rate([1e-9, 2e-9, 3e-9]) / 6e-9 - 1.0).abs() < 1e-8);
    assert!(loss_rate([]).abs() < 1e-15);
    assert!((loss_rate([0.1, 1.0]) - 1.0).abs() < 1e-15);
}

/// Holds mbm/composable.
#[test]
fn good_parts_make_a_good_path_or_not() {
    assert_eq!(
        composed((5_000, 5), (5_000, 5)).verdict.outcome,
        Outcome::Pass
    );
    // 1 in 363 is good; twice that is in between; what all parts together lose is judged.
    assert_eq!(
        composed((100_000, 250), (100_000, 250)).verdict.outcome,
        Outcome::Pass
    );
    assert_eq!(
        composed((400, 1), (400, 1)).verdict.outcome,
        Outcome::Inconclusive
    );
    let bad = composed((5_000, 40), (5_000, 40));
    assert_eq!(bad.verdict.outcome, Outcome::Fail);
    assert!(bad.verdict.says.contains("all together are not"));
    assert!((bad.loss_pct - 1.5936).abs() < 1e-9);
    let scaled = composed((1_000_000, 100), (2_000, 1));
    assert_eq!((scaled.packets, scaled.marks), (2_000, 2));
    assert!(scaled.warnings.is_empty());
    assert_eq!(composed((400, 0), (5_000, 0)).warnings.len(), 1);
}

#[test]
fn a_part_that_failed_or_did_not_work_decides() {
    let with = |outcome: Outcome| {
        let mut bad = part("bc", "video-rfc8337", 5_000, 0);
        bad.outcome = outcome;
        compose(vec![part("ab", "video-rfc8337", 5_000, 0), bad], 0.05, 0.05)
            .unwrap()
            .verdict
            .outcome
    };
    assert_eq!(with(Outcome::Fail), Outcome::Fail);
    assert_eq!(with(Outcome::Error), Outcome::Error);
    // A part that could not tell by itself has packets that count.
    assert_eq!(with(Outcome::Inconclusive), Outcome::Pass);
}

#[test]
fn unlike_parts_are_refused_with_the_reason() {
    let good = || part("ab", "video-rfc8337", 5_000, 0);
    let refused = |other: Part| {
        compose(vec![good(), other], 0.05, 0.05)
            .unwrap_err()
            .to_string()
    };
    assert!(
        refused(part("bc", "video-hd", 5_000, 0)).contains("the target rate (2500kbit and 5Mbit)"),
        "{}",
        refused(part("bc", "video-hd", 5_000, 0))
    );
    let mut other = part("bc", "video-rfc8337", 5_000, 0);
    other.question.model = Model::Queueless;
    assert!(refused(other.clone()).contains("the model"));
    other = good();
    other.test = Test::SustainedBurst;
    assert!(refused(other.clone()).contains("the test"));
    other.test = Test::Bufferbloat;
    assert!(refused(other).contains("only loss rates"));
    assert!(refused(part("bc", "video-rfc8337", 0, 0)).contains("no packets"));
    assert_eq!(compose(vec![good()], 0.05, 0.05), Err(ComposeError::TooFew));
    assert!(compose(vec![good(), good()], 0.0, 0.05).is_err());
}

/// Holds mbm/composable.
#[test]
fn a_part_is_counted_once() {
    let of_run = |name: &str, run: &str| {
        let mut part = part(name, "video-rfc8337", 5_000, 0);
        part.way.run = run.to_owned();
        part
    };
    let parts = vec![of_run("ab", "1"), of_run("bc", "2"), of_run("again", "1")];
    let refused = compose(parts, 0.05, 0.05).unwrap_err().to_string();
    assert!(
        refused.starts_with("ab and again are not two parts of one path: both are the run 1"),
        "{refused}"
    );
    let parts = vec![of_run("ab", "1"), of_run("bc", "2"), of_run("cd", "3")];
    assert_eq!(
        compose(parts, 0.05, 0.05).unwrap().verdict.outcome,
        Outcome::Pass
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Holds mbm/apportioned.
    #[test]
    fn budgets_compose_to_the_whole(whole in 1e-9_f64..0.5, shares in prop::collection::vec(0.01_f64..10.0, 1..8)) {
        let parts = budgets(whole, &shares);
        prop_assert_eq!(parts.len(), shares.len());
        prop_assert!((loss_rate(parts.iter().copied()) / whole - 1.0).abs() < 1e-9);
        prop_assert!(parts.iter().all(|p| *p > 0.0 && *p <= whole * (1.0 + 1e-12)));
    }

    #[test]
    fn no_counts_panic(one: (u64, u64), two: (u64, u64)) {
        let parts = vec![part("ab", "video-rfc8337", one.0, one.1), part("bc", "video-rfc8337", two.0, two.1)];
        let _ = compose(parts, 0.05, 0.05);
    }
}

/// Holds mbm/apportioned.
#[test]
fn the_interconnection_of_the_rfcs_example_may_lose_one_packet_in_82_bursts() {
    // RFC 8337 section 9: 50 % for the last mile, 40 % between networks, 1 % for each of ten hops inside.
    let shares: Vec<f64> = [50.0, 40.0].into_iter().chain([1.0; 10]).collect();
    let parts = budgets(1.0 / 363.0, &shares);
    let bursts = 1.0 / parts[1] / 11.0;
    assert!((82.0..83.0).contains(&bursts), "{bursts}");
}

#[test]
fn impossible_budgets_are_none() {
    assert!(budgets(0.01, &[1.0, 0.0]).is_empty());
    assert!(budgets(1.0, &[1.0]).is_empty());
    assert!(budgets(f64::NAN, &[1.0]).is_empty());
}
