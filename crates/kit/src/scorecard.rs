//! A record on a terminal: the lines that every scorecard begins and ends with.

use record::{Run, Status};

/// What was measured, against what, when, and how it ended.
pub fn title(run: &Run, plan: &str) -> String {
    headline(run, plan, "")
}

/// The same for a measurement whose load is the kernel's TCP: with the congestion control that it used, as far as the record
/// says it (a live path's hosts may each have their own).
pub fn title_over_tcp(run: &Run, plan: &str) -> String {
    let lab = run.path.lab.as_ref();
    let asked = run.plan["cc"].as_str();
    let control = asked.or_else(|| lab.and_then(|lab| lab.congestion_control.as_deref()));
    let control = control.map(|control| format!(" (TCP {control})"));
    headline(run, plan, &control.unwrap_or_default())
}

fn headline(run: &Run, plan: &str, control: &str) -> String {
    let towards = run.path.lab.as_ref().map_or_else(
        || {
            run.path
                .server
                .addresses
                .first()
                .map_or_else(|| "-".to_owned(), ToString::to_string)
        },
        |lab| format!("lab {}", lab.name),
    );
    let status = match run.status {
        Status::Complete => "",
        Status::Incomplete => " - INCOMPLETE",
        Status::Invalid => " - INVALID: the instrument was the bottleneck",
        Status::Failed => " - FAILED",
    };
    format!(
        "{plan} against {towards}{control}, {}{status}",
        run.started.strftime("%Y-%m-%d %H:%M:%S UTC")
    )
}

/// How busy the processors were, and what the reader should beware of.
pub fn closing(run: &Run) -> Vec<String> {
    let cpu = run.instrument.cpu.iter();
    let cpu: Vec<_> = cpu
        .map(|cpu| format!("{} {:.0} %", cpu.host, cpu.mean_pct))
        .collect();
    let cpu = (!cpu.is_empty()).then(|| format!("processors    {}", cpu.join(", ")));
    let warnings = run.warnings.iter();
    let warnings = warnings.map(|warning| format!("! {} - {}", warning.message, warning.advice));
    cpu.into_iter().chain(warnings).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::LabInfo;
    use serde_json::json;

    #[test]
    fn a_title_names_the_congestion_control_of_the_kernels_tcp_alone() {
        let started = "2026-11-21T09:30:00Z".parse().unwrap();
        let mut run = Run::new("rrul", started, json!({ "cc": null }));
        run.path.lab = Some(LabInfo {
            name: "dsl".to_owned(),
            congestion_control: Some("cubic".to_owned()),
            ..LabInfo::default()
        });
        let rest = ", 2026-11-21 09:30:00 UTC - FAILED";
        run.status = Status::Failed;
        assert_eq!(title(&run, "btc"), format!("btc against lab dsl{rest}"));
        let over_tcp = |run: &Run| title_over_tcp(run, "rrul");
        assert_eq!(
            over_tcp(&run),
            format!("rrul against lab dsl (TCP cubic){rest}")
        );
        run.plan = json!({ "cc": "bbr" });
        assert_eq!(
            over_tcp(&run),
            format!("rrul against lab dsl (TCP bbr){rest}")
        );
        run.path.lab = None;
        run.plan = json!({});
        assert_eq!(over_tcp(&run), format!("rrul against -{rest}"));
    }
}
