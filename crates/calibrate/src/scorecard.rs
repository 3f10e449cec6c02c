//! The end of a calibration on a terminal.

use super::Summary;
use super::machine::{BEFORE, OTHERS};
use record::{Run, Status};
use serde_json::Value;
use stats::Distribution;
use std::fmt::Write as _;

/// The scorecard of `run`, whose summary is `summary`.
pub fn scorecard(run: &Run, summary: &Summary) -> String {
    let mut page = String::new();
    let mut line = |name: &str, text: String| {
        // Writing to a string does not fail.
        let _ = writeln!(page, "{name:14}{text}");
    };
    let incomplete = if run.status == Status::Complete {
        ""
    } else {
        " - INCOMPLETE"
    };
    let time = run.started.strftime("%Y-%m-%d %H:%M:%S UTC");
    line("calibration", format!("{time}{incomplete}"));
    for host in &run.hosts {
        let cpu = if host.cpu.is_empty() { "?" } else { &host.cpu };
        line(
            "machine",
            format!("{} x {cpu}, Linux {}", host.cpus, host.kernel),
        );
    }
    emulator(summary, &mut line);
    punctuality(summary, &mut line);
    let share = |key: &str| run.instrument.more.get(key).and_then(Value::as_f64);
    if let Some((before, others)) = share(BEFORE).zip(share(OTHERS)) {
        let text =
            format!("machine busy {before:.0} % before, {others:.0} % with other things meanwhile");
        line("instrument", text);
    }
    for warning in &run.warnings {
        line(
            "warning",
            format!("{} - {}", warning.message, warning.advice),
        );
    }
    page
}

/// How much the emulator carries.
fn emulator(summary: &Summary, line: &mut impl FnMut(&str, String)) {
    if let Some(gbps) = summary.tcp_gbps {
        line(
            "TCP",
            format!(
                "{gbps:.2} Gbit/s of one connection through 1 ms each way, packets of 1500 octets"
            ),
        );
    }
    if let Some(cpu) = summary.tcp_cpu_pct {
        line(
            "",
            format!(
                "CPU: sender {:.0} %, emulator {:.0} %, receiver {:.0} % of one processor",
                cpu.sender, cpu.emulator, cpu.receiver
            ),
        );
    }
    if let Some(rate) = summary.packets_per_s {
        let lost = summary.packets_lost_pct.unwrap_or_default();
        line(
            "packets",
            format!(
                "{:.0} thousand/s of 64 octets of payload, {lost:.2} % lost",
                rate / 1e3
            ),
        );
    }
    if let Some(rate) = summary.connections_per_s {
        line(
            "connections",
            format!("{rate:.0}/s opened and closed, 32 at a time"),
        );
    }
}

/// How exact its times are.
fn punctuality(summary: &Summary, line: &mut impl FnMut(&str, String)) {
    let three = |d: Distribution, unit: f64| {
        format!(
            "{:.1} / {:.1} / {:.1}",
            d.p50 / unit,
            d.p99 / unit,
            d.max / unit
        )
    };
    if let Some(error) = summary.delay_error_us {
        line(
            "delay error",
            format!("{} us over 5 ms (median / 99 % / worst)", three(error, 1.0)),
        );
    }
    if let Some(error) = summary.pacer_error_ns {
        let cpu = summary.pacer_cpu_pct.unwrap_or_default();
        line(
            "pacer error",
            format!(
                "{} us of gaps of 100 us (median / 99 % / worst), CPU {cpu:.0} %",
                three(error, 1e3)
            ),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> Run {
        let started = "2026-11-21T07:29:11Z".parse().unwrap();
        let mut run = Run::new(super::super::TEST, started, Value::Null);
        run.status = Status::Complete;
        for (key, value) in [(BEFORE, 3.0), (OTHERS, 4.0)] {
            run.instrument.more.insert(key.to_owned(), value.into());
        }
        run
    }

    #[test]
    fn a_full_scorecard_fits_a_dozen_lines_and_names_every_unit() {
        let error = Distribution::of([20.0, 30.0, 40.0]);
        let summary = Summary {
            tcp_gbps: Some(6.25),
            tcp_cpu_pct: Some(super::super::tcp::Cpu::default()),
            packets_per_s: Some(512_300.0),
            packets_lost_pct: Some(0.0),
            delay_error_us: error,
            pacer_error_ns: error,
            pacer_cpu_pct: Some(90.0),
            connections_per_s: Some(9_000.0),
        };
        insta::assert_snapshot!(scorecard(&run(), &summary), @r"
        calibration   2026-11-21 07:29:11 UTC
        TCP           6.25 Gbit/s of one connection through 1 ms each way, packets of 1500 octets
                      CPU: sender 0 %, emulator 0 %, receiver 0 % of one processor
        packets       512 thousand/s of 64 octets of payload, 0.00 % lost
        connections   9000/s opened and closed, 32 at a time
        delay error   30.0 / 39.8 / 40.0 us over 5 ms (median / 99 % / worst)
        pacer error   0.0 / 0.0 / 0.0 us of gaps of 100 us (median / 99 % / worst), CPU 90 %
        instrument    machine busy 3 % before, 4 % with other things meanwhile
        ");
    }

    #[test]
    fn what_was_not_measured_has_no_line() {
        let page = scorecard(&run(), &Summary::default());
        assert_eq!(page.lines().count(), 2, "{page}");
    }
}
