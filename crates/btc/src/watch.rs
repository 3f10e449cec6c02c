//! How a transfer goes, for whoever watches: written by its thread, read by another.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use transport::{Receiver, Sender};

/// Figures of one transfer, at either end.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Octets of payload acknowledged, or received.
    pub bytes: AtomicU64,
    /// Thousandths of a segment of congestion window.
    pub cwnd_milli: AtomicU64,
    /// Packets sent, and those of them that were copies.
    pub packets: AtomicU64,
    pub retransmits: AtomicU64,
    /// Whether this end has no more to do.
    pub done: AtomicBool,
}

impl Watch {
    pub(crate) fn sender(&self, sender: &Sender) {
        let sent = sender.sent();
        self.set(
            sent.acked_bytes,
            sender.snapshot().cwnd,
            sent.packets,
            sent.retransmits,
        );
    }

    pub(crate) fn receiver(&self, receiver: &Receiver) {
        let receipts = receiver.receipts();
        self.set(receipts.bytes, 0.0, receipts.packets, 0);
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a window is a small positive number, and for show"
    )]
    pub(crate) fn set(&self, bytes: u64, cwnd: f64, packets: u64, retransmits: u64) {
        self.bytes.store(bytes, Ordering::Relaxed);
        self.cwnd_milli
            .store((cwnd * 1e3) as u64, Ordering::Relaxed);
        self.packets.store(packets, Ordering::Relaxed);
        self.retransmits.store(retransmits, Ordering::Relaxed);
    }
}
