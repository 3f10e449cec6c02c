//! The end of a search for limits on a terminal.

use super::margin::SHARE;
use super::{Component, Found, Limits};
use std::path::Path;

/// The scorecard of `limits`, which are kept in `file`, if they are.
pub fn scorecard(limits: &Limits, file: Option<&Path>) -> String {
    let machine = &limits.machine;
    let processors = if machine.cpus == 1 { "" } else { "s" };
    let quick = if limits.quick {
        " - QUICK: more may be possible"
    } else {
        ""
    };
    let mut lines = vec![format!(
        "limits        {}{quick}",
        limits.taken.strftime("%Y-%m-%d %H:%M:%S UTC")
    )];
    lines.push(format!(
        "machine       {}, {} processor{processors}, Linux {}, isobath {}",
        machine.host, machine.cpus, machine.kernel, machine.isobath
    ));
    lines.extend(limits.components.iter().map(row));
    lines.push(format!(
        "replays       are refused beyond {:.0} % of these",
        SHARE * 100.0
    ));
    let warnings = limits.warnings.iter();
    lines.extend(warnings.map(|warning| format!("! {} - {}", warning.message, warning.advice)));
    lines.push(file.map_or_else(
        || "not kept      the machine had other things to do".to_owned(),
        |file| format!("kept          {}", file.display()),
    ));
    lines.join("\n") + "\n"
}

fn row(found: &Found) -> String {
    let why = match (found.broke_at, found.bound) {
        (Some(at), _) => {
            let broke = found.broke.iter().map(|criterion| criterion.words());
            let broke = broke.collect::<Vec<_>>().join(", ");
            format!("at {} {broke}", found.component.words(at))
        }
        (None, Some(bound)) => bound.words().to_owned(),
        (None, None) => String::new(),
    };
    let limit = limit(found.component, found.limit);
    format!("{:14}{limit:25}{why}", found.component.name())
        .trim_end()
        .to_owned()
}

fn limit(component: Component, figure: f64) -> String {
    if figure > 0.0 {
        component.words(figure)
    } else {
        "nothing was held".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::criterion::Criterion;
    use super::super::tests::{found, trial};
    use super::super::{Bound, Machine, SCHEMA};
    use super::*;

    #[test]
    fn every_limit_has_its_unit_and_what_broke_first() {
        let broke = [Criterion::StartsLate, Criterion::Processors];
        let packets = vec![trial(20_001.0, &[]), trial(25_000.0, &broke)];
        let nothing = vec![trial(50.0, &[Criterion::Unanswered])];
        let open = vec![trial(9_901.0, &[])];
        let limits = Limits {
            schema: SCHEMA.to_owned(),
            machine: Machine {
                host: "bench".to_owned(),
                kernel: "6.18.44".to_owned(),
                cpus: 2,
                isobath: "0.1.0".to_owned(),
            },
            taken: "2026-11-22T04:30:00Z".parse().unwrap(),
            quick: false,
            components: vec![
                found(Component::Starts, 4_000.0),
                Found::of(Component::Open, open, Bound::Descriptors),
                Found::of(Component::Packets, packets, Bound::Time),
                Found::of(Component::Rate, nothing, Bound::Time),
            ],
            warnings: Vec::new(),
        };
        insta::assert_snapshot!(scorecard(&limits, Some(Path::new("/home/me/limits.json"))), @r"
        limits        2026-11-22 04:30:00 UTC
        machine       bench, 2 processors, Linux 6.18.44, isobath 0.1.0
        starts        4000 connections/s       nothing broke; more was not tried
        open          9900 open connections    nothing broke, and more file descriptors are not allowed (ulimit -n)
        packets       20000 packets/s          at 25000 packets/s connections were opened late, the processors were saturated
        rate          nothing was held         at 50 Mbit/s requests were not answered in time
        replays       are refused beyond 80 % of these
        kept          /home/me/limits.json
        ");
    }
}
