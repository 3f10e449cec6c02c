//! The books of a round, of both its ends.

use super::Run;
use crate::books::{Outcome as How, Quality, ReceiverBooks, SenderBooks};
use crate::messages::FarBooks;
use crate::near::Books;
use crate::plan::Round;

impl Run<'_> {
    /// Brings the books of both ends together.
    pub(super) fn conclude(
        &mut self,
        round: &Round,
        near: Vec<Books>,
        far: &[FarBooks],
        lost: Option<&str>,
        dropped: Option<u64>,
    ) {
        for books in near {
            let (sender, receiver) = match books {
                Books::Sender(sender) => {
                    let receiver = far.iter().find_map(|far| far.receiver(sender.id));
                    (sender, receiver.cloned())
                }
                Books::Receiver(receiver) => {
                    let sender = far.iter().find_map(|far| far.sender(receiver.id));
                    let sender = sender.cloned().unwrap_or_else(|| unknown(receiver.id));
                    (sender, Some(receiver))
                }
            };
            let receiver = receiver.map(|books| ReceiverBooks { dropped, ..books });
            let sender = called_off(sender, lost, self.is_interrupted());
            self.findings
                .conclude(self.context.plan, round, sender, receiver);
        }
    }
}

impl FarBooks {
    pub(super) const fn id(&self) -> u16 {
        match self {
            Self::Receiver(books) => books.id,
            Self::Sender(books) => books.id,
        }
    }

    pub(super) const fn quality(&self) -> &Quality {
        match self {
            Self::Receiver(books) => &books.quality,
            Self::Sender(books) => &books.quality,
        }
    }

    fn receiver(&self, id: u16) -> Option<&ReceiverBooks> {
        match self {
            Self::Receiver(books) if books.id == id => Some(books),
            _ => None,
        }
    }

    fn sender(&self, id: u16) -> Option<&SenderBooks> {
        match self {
            Self::Sender(books) if books.id == id => Some(books),
            _ => None,
        }
    }
}

/// A sender at the far end that has said nothing.
fn unknown(id: u16) -> SenderBooks {
    SenderBooks {
        id,
        outcome: How::Failed,
        reason: Some("its sender did not tell how it went".to_owned()),
        ..SenderBooks::default()
    }
}

/// A transfer that was called off knows no reason of its own.
fn called_off(mut sender: SenderBooks, lost: Option<&str>, interrupted: bool) -> SenderBooks {
    if sender.outcome == How::Failed {
        match lost {
            Some(reason) => sender.reason = Some(format!("the server was lost: {reason}")),
            None if interrupted => sender.reason = Some("it was interrupted".to_owned()),
            None => {}
        }
    }
    sender
}
