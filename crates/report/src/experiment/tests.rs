use super::*;
use serde_json::json;

const PUBLISHED: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/schema/experiment.schema.json"
);

fn figure() -> Figure {
    Figure::new("stability", "Pairs agree")
        .x(Axis::new("difference", "%").log())
        .y(Axis::new("share", "%").range(0.0, 100.0))
        .series(Series::new("paper", Kind::Step, [(1.0, 2.0)]).source(Source::Paper))
}

fn experiment() -> Experiment {
    Experiment::new("btc/agreement", "Ours and the kernel's agree")
        .case(Case::new("median", "1.2 %", "at most 5 %").holds(true))
        .case(Case::not_run("ICMP", "as cooperative"))
        .figure(figure())
        .table(Table::new("Loss").column("within", "points").row([1.0]))
}

#[test]
fn what_is_written_is_read_again() {
    let written = experiment().to_json().unwrap();
    assert_eq!(Experiment::from_json(&written).unwrap(), experiment());
}

#[test]
fn a_file_by_another_program_needs_the_names_and_nothing_else() {
    let least = json!({"schema": SCHEMA, "name": "a", "title": "b", "figures": [{"id": "f", "title": "t",
        "x": {"label": "x"}, "y": {"label": "y"}, "series": [{"name": "s", "kind": "points", "points": [[1, null]]}]}]});
    let read = Experiment::from_json(&least.to_string()).unwrap();
    assert_eq!(read.figures[0].series[0].points, [(1.0, None)]);
}

#[track_caller]
fn assert_refused(experiment: &Experiment, why: &str) {
    let error = experiment.check().unwrap_err().to_string();
    assert!(error.contains(why), "{error}");
}

#[test]
fn what_cannot_be_drawn_is_refused_by_its_name() {
    let with = |change: fn(&mut Figure)| {
        let mut one = figure();
        change(&mut one);
        Experiment::new("a", "b").figure(one)
    };
    assert_refused(&with(|f| f.id = "A b".into()), "id");
    assert_refused(&with(|f| f.x.min = Some(0.0)), "logarithmic");
    assert_refused(
        &with(|f| f.series[0].points[0].1 = Some(f64::NAN)),
        "stability, paper",
    );
    assert_refused(
        &with(|f| f.series[0].intervals = vec![None, None]),
        "intervals",
    );
    assert_refused(&with(|f| f.x.categories = vec!["one".into()]), "names");
    assert_refused(
        &with(|f| {
            f.series[0].kind = Kind::Stacked;
            let mut other = f.series[0].clone();
            other.points.pop();
            f.series.push(other);
        }),
        "same places",
    );
    assert_refused(&experiment().figure(figure()), "two figures");
    let short = Table::new("Loss").column("a", "").row([1.0, 2.0]);
    assert_refused(&Experiment::new("a", "b").table(short), "row 1");
    let mut other = experiment();
    other.schema = "isobath.experiment/9".into();
    assert_refused(&other, "isobath.experiment/9");
}

#[test]
fn a_claim_that_could_not_be_told_neither_holds_nor_fails() {
    assert!(experiment().all_hold());
    assert!(
        !Experiment::new("a", "b")
            .case(Case::not_run("c", "d"))
            .all_hold()
    );
    assert!(
        !experiment()
            .case(Case::new("c", "2", "1").holds(false))
            .all_hold()
    );
}

#[test]
fn a_distribution_function_rises_from_0_to_100_per_cent() {
    let cdf = Series::cdf("ours", [3.0, 1.0, f64::NAN, 2.0, 4.0]);
    let expected = [
        (1.0, 0.0),
        (1.0, 25.0),
        (2.0, 50.0),
        (3.0, 75.0),
        (4.0, 100.0),
    ];
    assert_eq!(cdf.points, expected.map(|(x, y)| (x, Some(y))));
}

#[test]
fn the_page_holds_the_experiment() {
    let page = page(&experiment()).unwrap();
    assert!(page.contains("\"schema\":\"isobath.report.experiment/1\""));
    assert!(page.contains("Ours and the kernel's agree"));
}

/// With `UPDATE_SCHEMA=1` in the environment, writes the schema instead.
#[test]
fn the_published_schema_is_that_of_the_types() {
    let schema = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(PUBLISHED, schema).unwrap();
        return;
    }
    let published = std::fs::read_to_string(PUBLISHED).unwrap_or_default();
    assert_eq!(published, schema, "run this test with UPDATE_SCHEMA=1");
}
