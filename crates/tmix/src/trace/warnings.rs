//! What to beware of in vectors from captures.

use super::extract::Found;
use super::summary;
use record::Warning;
use std::cmp::Reverse;

/// What was odd about the captures.
pub fn warnings(found: &Found) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for message in &found.cut {
        warnings.push(Warning {
            code: "capture_cut".to_owned(),
            message: message.clone(),
            advice: "nothing, if whoever captured was stopped; else fetch the capture again"
                .to_owned(),
        });
    }
    for message in &found.damaged {
        warnings.push(Warning {
            code: "capture_damaged".to_owned(),
            message: message.clone(),
            advice: "what comes after that place is missing - fetch the capture again".to_owned(),
        });
    }
    warnings.extend(unread(found));
    if found.left_out > 0 {
        warnings.push(left_out(found.left_out));
    }
    let refused = found.counters.refused.packets + found.counters.udp.refused.packets;
    if refused > 0 {
        warnings.push(Warning {
            code: "connections_refused".to_owned(),
            message: format!(
                "{refused} packets came when no more connections or flows could be open"
            ),
            advice: "raise --most-open, if there is memory, or lower --idle".to_owned(),
        });
    }
    warnings
}

/// Kinds of frames that are named.
const NAMED: usize = 5;

/// Frames of which the inside is not known here.
fn unread(found: &Found) -> Option<Warning> {
    let mut kinds: Vec<_> = summary::unread(found).collect();
    kinds.sort_by_key(|&(reason, count)| (Reverse(count), reason));
    let all: u64 = kinds.iter().map(|(_, count)| count).sum();
    let named = kinds.iter().take(NAMED);
    let mut named: Vec<_> = named
        .map(|(reason, count)| format!("{count} of {reason}"))
        .collect();
    if kinds.len() > NAMED {
        named.push(format!("others of {} kinds", kinds.len() - NAMED));
    }
    (all > 0).then(|| Warning {
        code: "frames_unread".to_owned(),
        message: format!(
            "{all} frames are of kinds that are not read: {}",
            named.join(", ")
        ),
        advice:
            "connections in them are missing - capture inside the tunnel, or on another interface"
                .to_owned(),
    })
}

/// Flows of UDP are not in the file.
fn left_out(flows: u64) -> Warning {
    Warning {
        code: "udp_left_out".to_owned(),
        message: format!("{flows} flows of UDP are not in the file: cvec knows TCP only"),
        advice: "nothing, if TCP is what you want; else write Parquet".to_owned(),
    }
}
