use super::*;

fn curve(points: &[(f64, f64, f64)]) -> Curve {
    Curve {
        name: "one".to_owned(),
        count: 3,
        mean: 2.0,
        points: points.iter().map(|&(v, p, q)| Point(v, p, q)).collect(),
        marks: vec![Mark(0.5, 2.0)],
    }
}

fn description(curve: Curve) -> Description {
    Description {
        name: "a trace".to_owned(),
        made_by: "isobath trace describe".to_owned(),
        sentence: "Three values".to_owned(),
        summary: Vec::new(),
        tiles: Vec::new(),
        families: vec![Family {
            id: "size".to_owned(),
            title: "Half are up to 2 B".to_owned(),
            caption: String::new(),
            how_to: Vec::new(),
            label: "size".to_owned(),
            unit: "B".to_owned(),
            curves: vec![curve],
        }],
        figures: Vec::new(),
        tables: Vec::new(),
        notes: Vec::new(),
        plan: Value::Null,
    }
}

#[test]
fn a_page_holds_the_curves() {
    let whole = description(curve(&[(1.0, 0.5, 0.5), (4.0, 1.0, 0.0)]));
    let page = page(&whole).unwrap();
    assert!(page.contains("isobath.report.description/1"));
    assert!(page.contains("[[1.0,0.5,0.5],[4.0,1.0,0.0]]"));
}

#[test]
fn what_is_no_distribution_is_refused() {
    let refused =
        |points: &[(f64, f64, f64)]| page(&description(curve(points))).unwrap_err().to_string();
    assert!(refused(&[(1.0, 0.5, 0.5), (0.5, 1.0, 0.0)]).contains("shrinks"));
    assert!(refused(&[(1.0, 1.5, 0.5)]).contains("none of a distribution"));
    assert!(refused(&[(f64::NAN, 0.5, 0.5)]).contains("none of a distribution"));
    let many = vec![(1.0, 0.5, 0.5); 2_001];
    assert!(refused(&many).contains("2001 points"));
    let mut twice = description(curve(&[(1.0, 1.0, 0.0)]));
    twice.families.push(twice.families[0].clone());
    assert!(
        page(&twice)
            .unwrap_err()
            .to_string()
            .contains("two figures")
    );
}
