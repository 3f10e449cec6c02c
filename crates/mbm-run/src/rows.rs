//! Packets of a test as rows of the record.

use super::messages::Passed;
use super::tables::Arrival;
use mbm::diagnostic::Test;

/// The rows of test number `number`; `at` places a time of the sender's clock, or of the receiver's, after the run's start.
pub(super) fn of(
    number: usize,
    test: Test,
    passed: &[Passed],
    at: impl Fn(u64, bool) -> u64,
) -> Vec<Arrival> {
    let number = u16::try_from(number).unwrap_or(u16::MAX);
    let row = |passed: &Passed| Arrival {
        test: number,
        name: test.name().into(),
        seq: passed.seq,
        t_ns: at(passed.sent_ns, true),
        arrived_ns: at(passed.arrived_ns, false),
        rtt_ns: passed.reported_ns.saturating_sub(passed.sent_ns),
        ce: passed.ce,
    };
    passed.iter().map(row).collect()
}
