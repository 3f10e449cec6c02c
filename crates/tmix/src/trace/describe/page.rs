//! Sets as a page.

use super::{Set, names, parts, shares};
use crate::trace::load;
use crate::trace::words::{count, digits, octets, rate, share, value};
use report::description::{Curve, Description, Family, Mark, Point};
use report::experiment::{Axis, Cell, Figure, Kind, Series, Table};
use serde_json::Value;
use vectors::Side;
use vectors::describe::{Course, Measure, Quantity, Unit};

/// The page of some sets, as they were asked for.
///
/// # Errors
/// When the figures cannot be written as JSON.
pub fn page(sets: &[Set], plan: &Value) -> anyhow::Result<String> {
    let names = names(sets);
    let families = Measure::ALL
        .into_iter()
        .filter_map(|measure| family(sets, &names, measure));
    let description = Description {
        name: names.join(", "),
        made_by: "isobath trace describe".to_owned(),
        sentence: sentence(sets, &names),
        summary: summary(sets),
        tiles: match sets {
            [set] => tiles(set),
            _ => Vec::new(),
        },
        families: families.collect(),
        figures: courses(sets, &names),
        tables: vec![totals(sets, &names), quoted(sets, &names)],
        notes: vec![
            "Octets are those that applications gave to TCP, without headers and repetitions; those of a connection count in a load where it starts.".to_owned(),
            "Quantiles are right to one part in a thousand; counts, means, deviations and extremes are exact.".to_owned(),
        ],
        plan: plan.clone(),
    };
    Ok(report::description_page(&description)?)
}

fn sentence(sets: &[Set], names: &[String]) -> String {
    let [set] = sets else {
        return apart(sets, names);
    };
    let description = &set.description;
    let half = description.quantities.get(&Measure::ConnectionBytes);
    half.map_or_else(
        || format!("{} has no connection", names[0]),
        |half| {
            format!(
                "{} connections: half of them carry {} or less, one in a hundred more than {}",
                count(description.connections.all),
                octets(half.p50),
                octets(half.p99)
            )
        },
    )
}

/// Which measure of which set is the farthest from the first's.
fn apart(sets: &[Set], names: &[String]) -> String {
    let all = sets.iter().zip(names);
    let all = all.flat_map(|(set, name)| set.differences.iter().map(move |one| (name, one)));
    let farthest = all.max_by(|(_, one), (_, other)| one.distance.total_cmp(&other.distance));
    farthest.map_or_else(
        || "The sets have nothing in common that could be compared".to_owned(),
        |(name, one)| {
            format!(
                "{name} differs most from {} in the {}: the shares up to a value are as much as {} points apart",
                names[0],
                one.measure.words(),
                digits(100.0 * one.distance)
            )
        },
    )
}

fn summary(sets: &[Set]) -> Vec<String> {
    let [set] = sets else {
        return Vec::new();
    };
    vec![format!("{}.", load::words(&set.load))]
}

fn tiles(set: &Set) -> Vec<[String; 3]> {
    let description = &set.description;
    let each = |side| rate(set.load.bits_per_second(Some(side)));
    let mut tiles = vec![
        [
            "Connections".to_owned(),
            count(description.connections.all),
            format!(
                "{} concurrent",
                description
                    .shares
                    .concurrent_connections
                    .map_or_else(|| "none".to_owned(), share)
            ),
        ],
        [
            "Octets".to_owned(),
            octets(description.bytes.all as f64),
            format!(
                "{} in concurrent connections",
                description
                    .shares
                    .concurrent_bytes
                    .map_or_else(|| "none".to_owned(), share)
            ),
        ],
        [
            "Load".to_owned(),
            each(Side::Acceptor),
            format!("of acceptors; {} of initiators", each(Side::Initiator)),
        ],
    ];
    for (measure, name) in [
        (Measure::RequestBytes, "Request"),
        (Measure::ResponseBytes, "Response"),
        (Measure::MinRttMs, "Round trip"),
    ] {
        if let Some(quantity) = description.quantities.get(&measure) {
            let of = |figure| value(figure, quantity.unit);
            tiles.push([
                format!("{name}, median"),
                of(quantity.p50),
                format!(
                    "mean {}, 99 % up to {}",
                    of(quantity.mean),
                    of(quantity.p99)
                ),
            ]);
        }
    }
    tiles
}

/// One measure of all sets that have it.
fn family(sets: &[Set], names: &[String], measure: Measure) -> Option<Family> {
    let quantities = sets
        .iter()
        .map(|set| set.description.quantities.get(&measure));
    let found: Vec<_> = quantities
        .zip(names)
        .filter_map(|(one, name)| Some((one?, name)))
        .collect();
    let (first, _) = found.first()?;
    let (unit, per) = unit(first.unit);
    let curves = found
        .iter()
        .map(|(quantity, name)| curve(quantity, name, per));
    Some(Family {
        id: format!("{measure:?}")
            .chars()
            .flat_map(dashed)
            .collect::<String>()
            .trim_start_matches('-')
            .to_owned(),
        title: title(sets, names, measure, first),
        caption: format!("Each value is of {}.", of_what(measure)),
        how_to: how_to(measure),
        label: measure.words().to_owned(),
        unit: unit.to_owned(),
        curves: curves.collect(),
    })
}

/// `RequestBytes` as `-request-bytes`.
fn dashed(letter: char) -> Vec<char> {
    if letter.is_ascii_uppercase() {
        vec!['-', letter.to_ascii_lowercase()]
    } else {
        vec![letter]
    }
}

/// What stands on the axis, and what its values are multiplied by.
const fn unit(unit: Unit) -> (&'static str, f64) {
    match unit {
        Unit::One => ("", 1.0),
        Unit::Octets => ("B", 1.0),
        Unit::Milliseconds => ("ms", 1.0),
        Unit::Share => ("%", 100.0),
    }
}

fn curve(quantity: &Quantity, name: &str, per: f64) -> Curve {
    let points = quantity.curve.iter();
    let marks = [
        (0.5, quantity.p50),
        (0.8, quantity.p80),
        (0.9, quantity.p90),
        (0.97, quantity.p97),
        (0.99, quantity.p99),
    ];
    Curve {
        name: name.to_owned(),
        count: quantity.count,
        mean: quantity.mean * per,
        points: points
            .map(|point| Point(point.value * per, point.at_most, point.above))
            .collect(),
        marks: marks
            .map(|(share, value)| Mark(share, value * per))
            .to_vec(),
    }
}

fn title(sets: &[Set], names: &[String], measure: Measure, first: &Quantity) -> String {
    let words = measure.words();
    let capital = words[..1].to_uppercase() + &words[1..];
    if sets.len() == 1 {
        let of = |figure| value(figure, first.unit);
        return format!(
            "{capital}: half up to {}, one in a hundred above {}",
            of(first.p50),
            of(first.p99)
        );
    }
    let all = sets.iter().zip(names);
    let all = all.filter_map(|(set, name)| {
        Some((
            name,
            set.differences.iter().find(|one| one.measure == measure)?,
        ))
    });
    let farthest = all.max_by(|(_, one), (_, other)| one.distance.total_cmp(&other.distance));
    farthest.map_or_else(
        || format!("{capital}: one set only has it"),
        |(name, one)| {
            let chance = if one.distance <= one.by_chance {
                ", as chance could make it"
            } else {
                ""
            };
            format!(
                "{capital}: the shares of {name} are up to {} points apart{chance}",
                digits(100.0 * one.distance)
            )
        },
    )
}

fn of_what(measure: Measure) -> &'static str {
    match measure {
        Measure::ConnectionBytes
        | Measure::InitiatorBytes
        | Measure::AcceptorBytes
        | Measure::WaitingMs
        | Measure::InitiatorLoss
        | Measure::AcceptorLoss => "a connection",
        Measure::Epochs => "a sequential connection",
        Measure::RequestBytes | Measure::ResponseBytes => {
            "an epoch of a sequential connection that has one"
        }
        Measure::ConcurrentAdus => "a concurrent connection",
        Measure::ConcurrentAduBytes => "an ADU of a concurrent connection",
        Measure::IntraEpochMs => {
            "an epoch with a request and a response: from the one to the other"
        }
        Measure::InterEpochMs => "an epoch but a connection's last: from its end to the next",
        Measure::ConcurrentQuietMs => {
            "an ADU of a concurrent connection: to the next of the same end"
        }
        Measure::TailMs => "a connection, or an end of a concurrent one, whose close was seen",
        Measure::MinRttMs => "a connection for which it is known",
        Measure::InitiatorWindowBytes | Measure::AcceptorWindowBytes => {
            "a connection: the largest that was advertised"
        }
    }
}

fn how_to(measure: Measure) -> Vec<String> {
    let mut lines = vec![
        "Left, a curve's height at a value is the share of values that are at most this; right, the share that are larger, with both axes logarithmic, so that the rare and large can be seen.".to_owned(),
        "Sets are alike where their curves lie on each other.".to_owned(),
    ];
    lines.push(match measure.unit() {
        Unit::Milliseconds => "A replay after Aikat (2010) plays only waits of 500 ms and more; what is shorter may be the network's.".to_owned(),
        Unit::Octets | Unit::One => "A tail that falls along a straight line is heavy: most of the octets are in the few connections at its end.".to_owned(),
        Unit::Share => "Loss is the network's on which the trace was taken, as it shows in numbers of segments.".to_owned(),
    });
    lines
}

/// Starts and octets over time.
fn courses(sets: &[Set], names: &[String]) -> Vec<Figure> {
    type Column = fn(&Course) -> &[u64];
    let panels: [(&str, &str, &str, Column, f64); 3] = [
        (
            "starts",
            "Connections that start",
            "starts/s",
            |course| &course.starts,
            1.0,
        ),
        (
            "initiators",
            "What initiators say",
            "Mbit/s",
            |course| &course.initiator_bytes,
            8e-6,
        ),
        (
            "acceptors",
            "What acceptors say",
            "Mbit/s",
            |course| &course.acceptor_bytes,
            8e-6,
        ),
    ];
    let timed = |set: &&Set| set.description.course.starts.len() > 2;
    if !sets.iter().any(|set| timed(&set)) {
        return Vec::new();
    }
    let figure = |(id, title, unit, column, per): (&str, &str, &str, Column, f64)| {
        let mut figure = Figure::new(id, format!("{title}, over time"))
            .caption(caption(sets, names, id))
            .how_to("Each step is the mean over one bin; bins are as wide as the caption says.")
            .how_to("A level that stays the same makes a steady load; a slope makes figures of a part unlike those of the whole.")
            .x(Axis::new("time since the trace began", "s"))
            .y(Axis::new(title.to_lowercase(), unit));
        for (set, name) in sets.iter().zip(names).filter(|(set, _)| timed(set)) {
            let course = &set.description.course;
            let values = column(course);
            // The last bin is not full.
            let whole = &values[..values.len() - 1];
            let points = whole.iter().zip(0_u32..).map(|(much, at)| {
                (
                    f64::from(at) * course.bin_s,
                    *much as f64 * per / course.bin_s,
                )
            });
            figure = figure.series(Series::new(name, Kind::Step, points));
        }
        figure
    };
    panels.into_iter().map(figure).collect()
}

fn caption(sets: &[Set], names: &[String], id: &str) -> String {
    let width = |set: &Set| format!("{} s", set.description.course.bin_s);
    let each = sets.iter().zip(names);
    let each = each.map(|(set, name)| format!("{} ({name})", width(set)));
    let same = sets
        .windows(2)
        .all(|pair| width(&pair[0]) == width(&pair[1]));
    let widths = match sets {
        [first, ..] if same => width(first),
        _ => each.collect::<Vec<_>>().join(", "),
    };
    let how = if id == "starts" {
        ""
    } else {
        " Octets are where the waits of their connection put them, as if it took no time to carry any: a replay shows when a network carries them."
    };
    format!("Bins of {widths}.{how}")
}

/// Connections and octets by kind.
fn totals(sets: &[Set], names: &[String]) -> Table {
    let mut table = Table::new("Connections and octets").column("part", "");
    for name in names {
        table = table
            .column(format!("{name}: connections"), "")
            .column(format!("{name}: octets"), "MB");
    }
    let columns: Vec<_> = sets.iter().map(parts).collect();
    let longest = columns.iter().max_by_key(|column| column.len());
    for (kind, _) in longest.into_iter().flatten() {
        let mut row = vec![Cell::from(*kind)];
        for column in &columns {
            let part = column.iter().find(|(name, _)| name == kind);
            row.push(part.map(|(_, part)| part.connections).into());
            row.push(part.map(|(_, part)| part.bytes as f64 / 1e6).into());
        }
        table = table.row(row);
    }
    table
}

/// The shares that are quoted.
fn quoted(sets: &[Set], names: &[String]) -> Table {
    let mut table = Table::new("Shares").column("share", "").column("of", "");
    for name in names {
        table = table.column(name, "%");
    }
    let columns: Vec<_> = sets.iter().map(shares).collect();
    for row in 0..columns.first().map_or(0, Vec::len) {
        let (what, of, _) = columns[0][row];
        let mut cells = vec![Cell::from(what), of.into()];
        cells.extend(
            columns
                .iter()
                .map(|column| Cell::from(column[row].2.map(|share| share * 100.0))),
        );
        table = table.row(cells);
    }
    table
}
