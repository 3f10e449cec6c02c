//! A record on a terminal: the lines that every scorecard begins and ends with.

use record::{Run, Status};

/// What was measured, against what, when, and how it ended.
pub fn title(run: &Run, plan: &str) -> String {
    let towards = run.path.lab.as_ref().map_or_else(
        || {
            run.path
                .server
                .addresses
                .first()
                .map_or_else(|| "-".to_owned(), ToString::to_string)
        },
        |lab| match &lab.congestion_control {
            Some(control) => format!("lab {} (TCP {control})", lab.name),
            None => format!("lab {}", lab.name),
        },
    );
    let status = match run.status {
        Status::Complete => "",
        Status::Incomplete => " - INCOMPLETE",
        Status::Invalid => " - INVALID: the instrument was the bottleneck",
        Status::Failed => " - FAILED",
    };
    format!(
        "{plan} against {towards}, {}{status}",
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
