//! Sets on a terminal.

use super::{Set, names, parts, shares};
use crate::trace::load;
use crate::trace::words::{count, digits, octets, share, value};
use std::fmt::Write as _;
use vectors::describe::{Measure, Quantity};

/// Sets that stand beside each other before names are put above each other.
const NAME: usize = 30;

/// All tables.
pub fn card(sets: &[Set]) -> String {
    let names = names(sets);
    let mut card = String::new();
    for (set, name) in sets.iter().zip(&names) {
        totals(&mut card, set, name);
    }
    distributions(&mut card, sets, &names);
    part_of_all(&mut card, sets, &names);
    card
}

// Writing to a string cannot fail; so in all of these.

/// Connections, octets, load.
fn totals(card: &mut String, set: &Set, name: &str) {
    let description = &set.description;
    let all = (description.connections.all, description.bytes.all);
    let _ = writeln!(card, "set           {name}");
    let _ = writeln!(card, "load          {}", load::words(&set.load));
    let _ = writeln!(
        card,
        "segments      at least {} of initiators and {} of acceptors, without acknowledgements",
        count(description.segments_each_way[0]),
        count(description.segments_each_way[1])
    );
    let of = |part: u64, all: u64| {
        if all == 0 {
            "-".to_owned()
        } else {
            share(part as f64 / all as f64)
        }
    };
    for (kind, part) in parts(set) {
        let _ = writeln!(
            card,
            "{kind:<14}{:>13} connections {:>8}{:>12} {:>8}",
            count(part.connections),
            of(part.connections, all.0),
            octets(part.bytes as f64),
            of(part.bytes, all.1),
        );
    }
    let _ = writeln!(
        card,
        "epochs        {:>13} in sequential connections",
        count(description.epochs)
    );
    let udp = &description.udp;
    if udp.flows > 0 {
        let _ = writeln!(
            card,
            "flows of UDP  {:>13}, {} isochronous; {} datagrams, {} - in no other figure",
            count(udp.flows),
            count(udp.isochronous),
            count(udp.datagrams),
            octets(udp.bytes as f64),
        );
    }
    card.push('\n');
}

/// A row for each measure, of several sets one below the other.
fn distributions(card: &mut String, sets: &[Set], names: &[String]) {
    let several = sets.len() > 1;
    let head = [
        "n", "mean", "s.d.", "median", "80 %", "90 %", "97 %", "99 %", "max",
    ];
    let mut line = " ".repeat(NAME);
    for name in head {
        let _ = write!(line, "{name:>10}");
    }
    let _ = writeln!(card, "{line}{}", if several { "  distance" } else { "" });
    for measure in Measure::ALL {
        let of = |set: &Set| set.description.quantities.get(&measure).cloned();
        if sets.iter().all(|set| of(set).is_none()) {
            continue;
        }
        if several {
            let _ = writeln!(card, "{}", measure.words());
        }
        for (set, name) in sets.iter().zip(names) {
            let name = if several {
                format!("  {}", fit(name, NAME - 3))
            } else {
                measure.words().to_owned()
            };
            let row = of(set).map_or_else(|| format!("{:>10}", "-"), |quantity| figures(&quantity));
            let _ = writeln!(card, "{name:<NAME$}{row}{}", distance(set, measure));
        }
    }
    if several {
        card.push_str(
            "distance: the largest between this distribution function and the first set's, from 0 to 1; behind it, in\nbrackets, what sets as large as these would exceed by chance in 5 of 100 cases, were they alike\n",
        );
    }
    card.push('\n');
}

fn figures(quantity: &Quantity) -> String {
    let of = |figure: f64| format!("{:>10}", value(figure, quantity.unit));
    let figures = [
        quantity.mean,
        quantity.deviation,
        quantity.p50,
        quantity.p80,
        quantity.p90,
        quantity.p97,
        quantity.p99,
        quantity.max,
    ];
    let figures: String = figures.into_iter().map(of).collect();
    format!("{:>10}{figures}", count(quantity.count))
}

fn distance(set: &Set, measure: Measure) -> String {
    let mut of_measure = set.differences.iter().filter(|one| one.measure == measure);
    let found = of_measure.next();
    found.map_or_else(String::new, |found| {
        format!("     {:.3} ({})", found.distance, digits(found.by_chance))
    })
}

/// The shares that are quoted, of several sets beside each other.
fn part_of_all(card: &mut String, sets: &[Set], names: &[String]) {
    if sets.len() > 1 {
        let _ = write!(card, "{:56}", "share of");
        for name in names {
            let _ = write!(card, "{:>14}", fit(name, 13));
        }
        card.push('\n');
    }
    let columns: Vec<_> = sets.iter().map(shares).collect();
    for row in 0..columns.first().map_or(0, Vec::len) {
        let (what, of, _) = columns[0][row];
        let _ = write!(card, "{:<56}", format!("{of}: {what}"));
        for found in columns.iter().map(|column| column[row].2) {
            let _ = write!(card, "{:>14}", found.map_or_else(|| "-".to_owned(), share));
        }
        card.push('\n');
    }
}

/// The end of a name that is too long, which tells files apart better than its beginning.
fn fit(name: &str, most: usize) -> String {
    let length = name.chars().count();
    if length <= most {
        return name.to_owned();
    }
    let end: String = name.chars().skip(length + 2 - most).collect();
    format!("..{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_their_ends() {
        assert_eq!(fit("monday.parquet", 14), "monday.parquet");
        assert_eq!(fit("monday.parquet", 10), "...parquet");
        assert_eq!(fit("", 3), "");
    }
}
