//! Tools that take part, and what they are told.
//!
//! The machine waits for nobody: each tool has a bounded outbox. A probe's arrival that finds no room there is not told, and is counted; the
//! answer to a transaction must not be lost, so a tool for which there is no room for one is cut.

use crate::counters::Inside;
use mgrp::message::Message;
use mgrp::transaction::Arrival;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};

/// Messages that may wait for a tool: more than one of the longest trains.
const MOST_WAITING: usize = 16_384;

/// Where messages for a tool go.
pub type Outbox = SyncSender<Message>;

/// An outbox and the end from which it is emptied.
pub fn outbox() -> (Outbox, Receiver<Message>) {
    mpsc::sync_channel(MOST_WAITING)
}

/// All tools, by the number of their connection.
#[derive(Default)]
pub(super) struct Clients(BTreeMap<u64, Client>);

struct Client {
    outbox: Outbox,
    channels: BTreeSet<u8>,
}

impl Clients {
    pub(super) fn come(&mut self, number: u64, outbox: Outbox) {
        let channels = BTreeSet::new();
        self.0.insert(number, Client { outbox, channels });
    }

    pub(super) fn go(&mut self, number: u64) {
        self.0.remove(&number);
    }

    pub(super) fn listen(&mut self, number: u64, channel: u8) {
        if let Some(client) = self.0.get_mut(&number) {
            client.channels.insert(channel);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Tells a tool what it waits for; one that does not read is cut.
    pub(super) fn answer(&mut self, number: u64, message: Message, counters: &mut Inside) {
        let Some(client) = self.0.get(&number) else {
            return;
        };
        if client.outbox.try_send(message).is_err() {
            // Its connection ends with the outbox.
            counters.cut_clients += 1;
            self.0.remove(&number);
        }
    }

    /// Tells whoever listens that a probe came.
    pub(super) fn arrived(&self, from: IpAddr, arrival: &Arrival, counters: &mut Inside) {
        let listening = self.0.values();
        for client in listening.filter(|client| client.channels.contains(&arrival.channel)) {
            let arrival = arrival.clone();
            let told = client.outbox.try_send(Message::Arrival { from, arrival });
            counters.missed_arrivals += u64::from(matches!(told, Err(TrySendError::Full(_))));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FROM: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    #[test]
    fn arrivals_go_to_who_listens_on_their_channel() {
        let (mut clients, mut counters) = (Clients::default(), Inside::default());
        let (outbox, told) = outbox();
        clients.come(1, outbox);
        clients.listen(1, 7);
        for channel in [6, 7] {
            let arrival = Arrival {
                channel,
                ..Arrival::default()
            };
            clients.arrived(FROM, &arrival, &mut counters);
        }
        let told: Vec<_> = told.try_iter().collect();
        assert!(
            matches!(&told[..], [Message::Arrival { arrival, .. }] if arrival.channel == 7),
            "{told:?}"
        );
    }

    #[test]
    fn who_does_not_read_misses_arrivals_and_is_cut_at_an_answer() {
        let (mut clients, mut counters) = (Clients::default(), Inside::default());
        let (outbox, told) = outbox();
        clients.come(1, outbox);
        clients.listen(1, 0);
        for _ in 0..=MOST_WAITING {
            clients.arrived(FROM, &Arrival::default(), &mut counters);
        }
        assert_eq!(counters.missed_arrivals, 1);
        clients.answer(1, Message::Accepted { id: 1 }, &mut counters);
        assert_eq!((counters.cut_clients, clients.len()), (1, 0));
        assert_eq!(told.iter().count(), MOST_WAITING);
    }
}
