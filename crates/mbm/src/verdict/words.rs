//! Verdicts in words: what was seen, and what would change it.

use super::{Outcome, Reason, Verdict};
use crate::loss::Counts;
use crate::sequential::Ruling;
use crate::stream::PatternReport;

/// A share of 0 to 1 in per cent, with three significant digits.
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    let magnitude = if percent > 0.0 {
        percent.log10().floor()
    } else {
        0.0
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "0 to 12"
    )]
    let decimals = (2.0 - magnitude).clamp(0.0, 12.0) as usize;
    format!("{percent:.decimals$} %")
}

/// Losses are few enough.
pub(super) fn low(ruling: &Ruling, counts: &Counts, is_kept: bool) -> Verdict {
    let sprt = ruling.sprt();
    let packets = counts.packets;
    let marks = sprt.marks_to_fail(packets);
    let pattern = if is_kept { ", sent as planned" } else { "" };
    Verdict::new(
        Outcome::Pass,
        Reason::LossLow,
        format!(
            "{} of {packets} packets lost or marked{pattern}: the loss rate is at most {} (confidence {:.0} %)",
            counts.marks(),
            percent(sprt.hypotheses().p1),
            100.0 * (1.0 - sprt.hypotheses().beta)
        ),
        format!("{marks} losses or marks among these packets would fail"),
    )
}

/// Losses are few, but of bursts that TCP did not send as such.
pub(super) fn held_back(
    pattern: Option<&PatternReport>,
    earlier: Option<&PatternReport>,
) -> Verdict {
    let (bursts, held) = pattern.map_or((0, 0), |pattern| pattern.held_since(earlier));
    Verdict::new(
        Outcome::Error,
        Reason::SenderPattern,
        format!(
            "losses were few, but TCP's window was smaller than the bursts and held {held} of {bursts} back: they were no bursts"
        ),
        "a carrier whose bursts leave whole whatever is lost: UDP",
    )
}

/// Losses are too many.
pub(super) fn high(ruling: &Ruling, counts: &Counts) -> Verdict {
    let sprt = ruling.sprt();
    let packets = counts.packets;
    let m = counts.marks();
    Verdict::new(
        Outcome::Fail,
        Reason::LossHigh,
        format!(
            "{m} of {packets} packets lost or marked: the loss rate is above {} (confidence {:.0} %)",
            percent(sprt.hypotheses().p0),
            100.0 * (1.0 - sprt.hypotheses().alpha)
        ),
        format!(
            "a loss rate of 1 in {:.0} would pass: a lower rate or a shorter target round trip bears more loss",
            1.0 / sprt.hypotheses().p0
        ),
    )
}

/// Time, or the sample, is over.
pub(super) fn open(ruling: &Ruling, counts: &Counts) -> Verdict {
    let sprt = ruling.sprt();
    let packets = counts.packets;
    let m = counts.marks();
    let missing = sprt.packets_to_pass(m).saturating_sub(packets);
    Verdict::new(
        Outcome::Inconclusive,
        Reason::Timeout,
        format!("{m} of {packets} packets lost or marked when time ran out: between the lines"),
        format!(
            "{missing} packets more without a loss would pass; {} losses among these packets would have failed",
            sprt.marks_to_fail(packets)
        ),
    )
}

/// Nothing arrived of `sent` packets.
pub(super) fn silence(sent: u64) -> Verdict {
    Verdict::new(
        Outcome::Fail,
        Reason::Silence,
        format!("none of {sent} packets arrived"),
        "a path that lets these packets through; a firewall may be what does not",
    )
}

/// The growth period was too short for its measurements.
pub(super) fn no_time() -> Verdict {
    Verdict::new(
        Outcome::Error,
        Reason::Timeout,
        "the time limit leaves no time to see whether the stream is as planned",
        "a longer time limit",
    )
}
