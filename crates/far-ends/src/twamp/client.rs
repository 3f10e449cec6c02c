//! The Control-Client: asks for one session, and has it started.

use super::wire::{
    ACCEPT, GREETING, OPEN, Request, SERVER_START, SET_UP, SHORT, START_ANSWER, START_SESSIONS,
    STOP_SESSIONS, YES, reason, take,
};
use crate::time::to_ntp;
use units::Dscp;

/// How long after the last request replies may still come: NTP's time stamp of ten seconds.
const TIMEOUT: u64 = 10 << 32;
/// Octets of a test packet before its padding.
const UNPADDED: usize = 14;

/// A session to be asked for.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// IP version: 4 or 6.
    pub family: u8,
    /// The UDP port that test packets come from.
    pub sender_port: u16,
    /// The UDP port that they should go to; the server may choose another.
    pub receiver_port: u16,
    /// Octets of their payload.
    pub payload: usize,
    /// Their DSCP.
    pub dscp: Dscp,
    /// The time, in nanoseconds since 1970.
    pub wall_ns: u64,
}

/// What is waited for.
#[derive(Clone, Copy, Debug)]
enum State {
    Greeting,
    ServerStart,
    Accept,
    StartAck { port: u16 },
    Started { port: u16 },
}

/// See the module. Whoever has one sends what it says, and gives it what comes.
#[derive(Debug)]
pub struct Client {
    asked: Asked,
    state: State,
    input: Vec<u8>,
}

impl Client {
    /// A client of a connection that was just opened.
    pub const fn new(asked: Asked) -> Self {
        Self {
            asked,
            state: State::Greeting,
            input: Vec::new(),
        }
    }

    /// Reads what has come, and appends what is to be sent to `out`; the port that test packets go to, once the session has started.
    ///
    /// # Errors
    /// Why there will be no session.
    pub fn handle(&mut self, octets: &[u8], out: &mut Vec<u8>) -> Result<Option<u16>, String> {
        self.input.extend(octets);
        while let Some(next) = self.step(out)? {
            self.state = next;
            if let State::Started { port } = next {
                return Ok(Some(port));
            }
        }
        Ok(None)
    }

    /// What follows on the next message, when all of it is there.
    fn step(&mut self, out: &mut Vec<u8>) -> Result<Option<State>, String> {
        let refused = |answer: u8| format!("it refuses: {}", reason(answer));
        Ok(match self.state {
            State::Greeting => take::<GREETING>(&mut self.input)
                .map(|greeting| agree(&greeting))
                .transpose()?
                .map(|()| {
                    let mut set_up = [0; SET_UP];
                    set_up[..4].copy_from_slice(&OPEN.to_be_bytes());
                    out.extend(set_up);
                    State::ServerStart
                }),
            State::ServerStart => match take::<SERVER_START>(&mut self.input) {
                Some(start) if start[START_ANSWER] != YES => {
                    return Err(refused(start[START_ANSWER]));
                }
                Some(_) => {
                    out.extend(self.request().emit());
                    Some(State::Accept)
                }
                None => None,
            },
            State::Accept => match take::<ACCEPT>(&mut self.input) {
                Some([YES, _, high, low, ..]) => {
                    out.extend(short(START_SESSIONS));
                    let port = u16::from_be_bytes([high, low]);
                    Some(State::StartAck { port })
                }
                Some([answer, ..]) => return Err(refused(answer)),
                None => None,
            },
            State::StartAck { port } => match take::<SHORT>(&mut self.input) {
                Some([YES, ..]) if port > 0 => Some(State::Started { port }),
                Some([YES, ..]) => return Err("it names no port".to_owned()),
                Some([answer, ..]) => return Err(refused(answer)),
                None => None,
            },
            State::Started { .. } => {
                // Nothing of what it might still say is of use.
                self.input.clear();
                None
            }
        })
    }

    fn request(&self) -> Request {
        let asked = &self.asked;
        Request {
            family: asked.family,
            sender_port: asked.sender_port,
            receiver_port: asked.receiver_port,
            sender: None,
            padding: u32::try_from(asked.payload.saturating_sub(UNPADDED)).unwrap_or(0),
            start: to_ntp(asked.wall_ns),
            timeout: TIMEOUT,
            dscp: asked.dscp.get(),
        }
    }

    /// What ends the session, and all others of the connection.
    pub fn stop() -> Vec<u8> {
        let mut octets = short(STOP_SESSIONS);
        // One session.
        octets[7] = 1;
        octets.to_vec()
    }
}

fn short(command: u8) -> [u8; SHORT] {
    let mut octets = [0; SHORT];
    octets[0] = command;
    octets
}

/// Whether the server takes whoever has no key.
fn agree(greeting: &[u8; GREETING]) -> Result<(), String> {
    let modes = u32::from_be_bytes([greeting[12], greeting[13], greeting[14], greeting[15]]);
    if modes & OPEN != 0 {
        Ok(())
    } else if modes == 0 {
        Err("it takes no clients at the moment".to_owned())
    } else {
        Err(
            "it wants a key, which is not supported - let it offer the unauthenticated mode"
                .to_owned(),
        )
    }
}
