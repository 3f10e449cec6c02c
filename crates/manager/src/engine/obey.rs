//! What the engine does when it is told to.

use super::Engine;
use super::command::Command;
use super::line::{Joined, Line};
use sys::clock;

impl Engine {
    pub(super) fn obey(&mut self) {
        let mut is_calm = false;
        while let Some(command) = self.orders.next() {
            if !std::mem::replace(&mut is_calm, true) {
                self.orders.calm();
            }
            self.follow(command);
        }
    }

    fn follow(&mut self, command: Command) {
        let (machine, now) = (&mut self.machine, clock::now());
        match command {
            Command::Ask(answer) => {
                // Who asked may be gone.
                let _ = answer.send(machine.snapshot(now));
            }
            Command::Begin {
                client,
                id,
                to,
                request,
                handover,
            } => machine.begin((client, id), to, request, handover, now),
            Command::CallOff { client, id } => machine.call_off(client, id),
            Command::Come { client, outbox } => machine.come(client, outbox),
            Command::Gone { client } => machine.gone(client),
            Command::Join { peer, joined } => self.join(peer, *joined),
            Command::Leave { peer, session } => {
                if machine.leave(peer, Some(session)) {
                    self.hang_up(peer);
                }
            }
            Command::Listen { client, channel } => machine.listen(client, channel),
            Command::Long {
                peer,
                session,
                octets,
            } => machine.learn(peer, session, octets, now),
            Command::Note { peer, reason } => machine.note(peer, reason),
            Command::Told { peer, arrivals } => machine.told(peer, &arrivals),
        }
    }

    fn join(&mut self, peer: usize, joined: Joined) {
        let (line, session) = Line::new(joined);
        if let Some(place) = self.lines.get_mut(peer) {
            *place = Some(line);
            self.machine.join(peer, session, clock::now());
        }
    }

    fn hang_up(&mut self, peer: usize) {
        if let Some(place) = self.lines.get_mut(peer) {
            *place = None;
        }
    }
}
