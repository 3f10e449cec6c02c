//! What other threads ask of the engine.

use super::line::Joined;
use crate::machine::Outbox;
use crate::snapshot::Snapshot;
use mgrp::transaction::{Arrival, Request};
use std::io::{Read, Write};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::time::Duration;
use sys::local::UnixStream;

/// Commands that may wait: whoever has more waits until the engine has looked.
const MOST_WAITING: usize = 256;

/// A command.
pub enum Command {
    /// What is there to say of everything?
    Ask(Sender<Snapshot>),
    /// A tool begins a transaction.
    Begin {
        client: u64,
        id: u32,
        to: IpAddr,
        request: Request,
        handover: Duration,
    },
    /// A tool calls one off.
    CallOff { client: u64, id: u32 },
    /// A tool has come, and is told things by this.
    Come { client: u64, outbox: Outbox },
    /// A tool is gone.
    Gone { client: u64 },
    /// A session with a peer has begun.
    Join { peer: usize, joined: Box<Joined> },
    /// It is over.
    Leave { peer: usize, session: u64 },
    /// A tool wants to be told of probes on a channel.
    Listen { client: u64, channel: u8 },
    /// A peer says that a word of so many octets came.
    Long {
        peer: usize,
        session: u64,
        octets: u16,
    },
    /// Why there is no session with a peer.
    Note { peer: usize, reason: String },
    /// A peer tells of probes that went to it from here.
    Told { peer: usize, arrivals: Vec<Arrival> },
}

/// Commands for the engine; clones are the same.
#[derive(Clone)]
pub struct Handle {
    commands: SyncSender<Command>,
    waker: Arc<UnixStream>,
}

/// The engine's end: what was asked, and a descriptor that can be read when something was.
pub(super) struct Orders {
    commands: Receiver<Command>,
    pub(super) woken: UnixStream,
}

/// Both ends.
///
/// # Errors
///
/// When the system gives no descriptors.
pub(super) fn channel() -> std::io::Result<(Handle, Orders)> {
    let (waker, woken) = UnixStream::pair()?;
    waker.set_nonblocking(true)?;
    woken.set_nonblocking(true)?;
    let (sender, commands) = mpsc::sync_channel(MOST_WAITING);
    let waker = Arc::new(waker);
    let handle = Handle {
        commands: sender,
        waker,
    };
    Ok((handle, Orders { commands, woken }))
}

impl Handle {
    /// Gives a command; false when the engine has ended.
    pub fn tell(&self, command: Command) -> bool {
        let is_told = self.commands.send(command).is_ok();
        // Where there is no room for one octet more, many wake the engine already.
        let _ = (&*self.waker).write(&[0]);
        is_told
    }

    /// How everything is; none when the engine has ended.
    pub fn ask(&self) -> Option<Snapshot> {
        let (answer, answered) = mpsc::channel();
        self.tell(Command::Ask(answer));
        answered.recv().ok()
    }
}

impl Orders {
    /// The next command, if there is one.
    pub(super) fn next(&self) -> Option<Command> {
        self.commands.try_recv().ok()
    }

    /// Takes the octets that woke the engine.
    pub(super) fn calm(&self) {
        let mut octets = [0; 64];
        while (&self.woken)
            .read(&mut octets)
            .is_ok_and(|count| count == octets.len())
        {}
    }
}
