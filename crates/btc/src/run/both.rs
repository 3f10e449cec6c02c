//! The counters of a round, of both its ends.

use super::Run;
use crate::messages::FarResult;
use crate::near::Results;
use crate::plan::Round;
use crate::results::{Outcome as How, Quality, ReceiverResult, SenderResult};

impl Run<'_> {
    /// Brings the counters of both ends together.
    pub(super) fn conclude(
        &mut self,
        round: &Round,
        near: Vec<Results>,
        far: &[FarResult],
        lost: Option<&str>,
        dropped: Option<u64>,
    ) {
        for counters in near {
            let (sender, receiver) = match counters {
                Results::Sender(sender) => {
                    let receiver = far.iter().find_map(|far| far.receiver(sender.id));
                    (sender, receiver.cloned())
                }
                Results::Receiver(receiver) => {
                    let sender = far.iter().find_map(|far| far.sender(receiver.id));
                    let sender = sender.cloned().unwrap_or_else(|| unknown(receiver.id));
                    (sender, Some(receiver))
                }
            };
            let receiver = receiver.map(|counters| ReceiverResult {
                dropped,
                ..counters
            });
            let sender = called_off(sender, lost, self.is_interrupted());
            self.findings
                .conclude(self.context.plan, round, sender, receiver);
        }
    }
}

impl FarResult {
    pub(super) const fn id(&self) -> u16 {
        match self {
            Self::Receiver(counters) => counters.id,
            Self::Sender(counters) => counters.id,
        }
    }

    pub(super) const fn quality(&self) -> &Quality {
        match self {
            Self::Receiver(counters) => &counters.quality,
            Self::Sender(counters) => &counters.quality,
        }
    }

    fn receiver(&self, id: u16) -> Option<&ReceiverResult> {
        match self {
            Self::Receiver(counters) if counters.id == id => Some(counters),
            _ => None,
        }
    }

    fn sender(&self, id: u16) -> Option<&SenderResult> {
        match self {
            Self::Sender(counters) if counters.id == id => Some(counters),
            _ => None,
        }
    }
}

/// A sender at the far end that has said nothing.
fn unknown(id: u16) -> SenderResult {
    SenderResult {
        id,
        outcome: How::Failed,
        reason: Some("its sender did not tell how it went".to_owned()),
        ..SenderResult::default()
    }
}

/// A transfer that was called off knows no reason of its own.
fn called_off(mut sender: SenderResult, lost: Option<&str>, interrupted: bool) -> SenderResult {
    if sender.outcome == How::Failed {
        match lost {
            Some(reason) => sender.reason = Some(format!("the server was lost: {reason}")),
            None if interrupted => sender.reason = Some("it was interrupted".to_owned()),
            None => {}
        }
    }
    sender
}
