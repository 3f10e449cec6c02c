//! What to beware of in vectors from captures.

use super::extract::Found;
use record::Warning;

/// What was odd about the captures.
pub(crate) fn warnings(found: &Found) -> Vec<Warning> {
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
    let refused = found.books.refused;
    if refused.packets > 0 {
        warnings.push(Warning {
            code: "connections_refused".to_owned(),
            message: format!(
                "{} packets came when no more connections could be open",
                refused.packets
            ),
            advice: "raise --most-open, if there is memory, or lower --idle".to_owned(),
        });
    }
    warnings
}
