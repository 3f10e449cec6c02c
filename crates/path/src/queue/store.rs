//! The packets of one queue and their octets.

use crate::{Count, Packet};
use std::collections::VecDeque;

pub(super) struct Store<B> {
    packets: VecDeque<Packet<B>>,
    bytes: u64,
}

impl<B> Store<B> {
    pub(super) const fn new() -> Self {
        Self {
            packets: VecDeque::new(),
            bytes: 0,
        }
    }

    pub(super) fn push(&mut self, packet: Packet<B>) {
        self.bytes += u64::from(packet.size);
        self.packets.push_back(packet);
    }

    pub(super) fn pop(&mut self) -> Option<Packet<B>> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.size);
        Some(packet)
    }

    pub(super) fn head(&self) -> Option<&Packet<B>> {
        self.packets.front()
    }

    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn count(&self) -> Count {
        Count {
            packets: self.packets.len() as u64,
            bytes: self.bytes,
        }
    }
}
