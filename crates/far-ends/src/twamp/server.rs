//! The Server: a conversation with one client.

use super::reflector::Agreed;
use super::wire::{
    ACCEPT, FULL, GREETING, OPEN, REQUEST, REQUEST_SESSION, Request, SERVER_START, SET_UP, SHORT,
    START_SESSIONS, STOP_SESSIONS, UNSUPPORTED, YES, take,
};
use crate::time::to_ntp;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use units::Dscp;

/// Sessions of one connection at once.
const MOST_SESSIONS: usize = 16;
/// Seconds after a session's end for which late packets are answered, at most.
const LONGEST_TIMEOUT_S: u64 = 60;
/// What a client with a password would go through so many times to make a key of it: at least 1,024 (RFC 5357 section 3.1).
const COUNT: u32 = 1_024;

/// The conversation is over.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Ended;

/// See the module. Its sessions end when it is dropped.
#[derive(Debug)]
pub struct Conversation {
    client: IpAddr,
    /// Where test packets go.
    port: u16,
    agreed: Arc<Agreed>,
    /// A number of this server's that no other session has.
    secret: u64,
    is_set_up: bool,
    input: Vec<u8>,
    /// Those that have been agreed on, each with its Timeout in nanoseconds, and how many of them have started.
    sessions: Vec<(SocketAddr, u64)>,
    started: usize,
    /// Those that were stopped.
    stopped: Vec<SocketAddr>,
}

impl Conversation {
    /// With a client at this address, whose packets are to go to `port`; what is agreed on goes into `agreed`. A session's identifier is made of
    /// `secret`. Writes the greeting over `out`.
    pub fn new(
        client: IpAddr,
        port: u16,
        agreed: Arc<Agreed>,
        secret: u64,
        out: &mut Vec<u8>,
    ) -> Self {
        out.clear();
        out.resize(GREETING, 0);
        out[12..16].copy_from_slice(&OPEN.to_be_bytes());
        // Challenge and salt, of which whoever has no key makes no use.
        for place in [16, 32] {
            out[place..place + 8].copy_from_slice(&secret.to_be_bytes());
        }
        out[48..52].copy_from_slice(&COUNT.to_be_bytes());
        Self {
            client: client.to_canonical(),
            port,
            agreed,
            secret,
            is_set_up: false,
            input: Vec::new(),
            sessions: Vec::new(),
            started: 0,
            stopped: Vec::new(),
        }
    }

    /// When the last test packet of a session came, or one was agreed on: in nanoseconds since 1970; none without sessions.
    pub fn latest_ns(&self) -> Option<u64> {
        let peers: Vec<_> = self.sessions.iter().map(|(peer, _)| *peer).collect();
        self.agreed.latest_ns(&peers)
    }

    /// Reads what has come at `wall_ns` (nanoseconds since 1970), and appends what is to be sent to `out`.
    ///
    /// # Errors
    /// [`Ended`] when the client says what no client says here: nothing more is to be read.
    pub fn handle(&mut self, octets: &[u8], wall_ns: u64, out: &mut Vec<u8>) -> Result<(), Ended> {
        self.input.extend(octets);
        if !self.is_set_up {
            let Some(set_up) = take::<SET_UP>(&mut self.input) else {
                return Ok(());
            };
            let mode = u32::from_be_bytes([set_up[0], set_up[1], set_up[2], set_up[3]]);
            let answer = if mode == OPEN { YES } else { UNSUPPORTED };
            let mut start = [0; SERVER_START];
            start[15] = answer;
            start[32..40].copy_from_slice(&to_ntp(wall_ns).to_be_bytes());
            out.extend(start);
            if answer != YES {
                return Err(Ended);
            }
            self.is_set_up = true;
        }
        while let Some(command) = self.input.first().copied() {
            match command {
                REQUEST_SESSION => {
                    let Some(request) = take::<REQUEST>(&mut self.input) else {
                        return Ok(());
                    };
                    out.extend(self.accept(&request, wall_ns));
                }
                START_SESSIONS => {
                    if take::<SHORT>(&mut self.input).is_none() {
                        return Ok(());
                    }
                    for (peer, _) in &self.sessions[self.started..] {
                        self.agreed.start(*peer);
                    }
                    self.started = self.sessions.len();
                    // All zero: yes.
                    out.extend([YES; SHORT]);
                }
                STOP_SESSIONS => {
                    if take::<SHORT>(&mut self.input).is_none() {
                        return Ok(());
                    }
                    self.stop(wall_ns);
                }
                _ => return Err(Ended),
            }
        }
        Ok(())
    }

    /// Ends the sessions that have started: late packets are answered for their Timeout, as long as the connection lasts.
    fn stop(&mut self, wall_ns: u64) {
        for (peer, timeout_ns) in self.sessions.drain(..self.started) {
            self.agreed.stop(peer, wall_ns.saturating_add(timeout_ns));
            if !self.stopped.contains(&peer) {
                self.stopped.push(peer);
            }
        }
        self.started = 0;
        // Those before are over long since.
        while self.stopped.len() > MOST_SESSIONS {
            self.agreed.end(self.stopped.remove(0));
        }
    }

    /// The answer to a request.
    fn accept(&mut self, request: &[u8; REQUEST], wall_ns: u64) -> [u8; ACCEPT] {
        let mut octets = [0; ACCEPT];
        let wanted = Request::parse(request).filter(|wanted| {
            let family = if self.client.is_ipv4() { 4 } else { 6 };
            let is_own = wanted.sender.is_none_or(|sender| sender == self.client);
            wanted.family == family && is_own && wanted.sender_port > 0
        });
        let Some(wanted) = wanted else {
            octets[0] = UNSUPPORTED;
            return octets;
        };
        let peer = SocketAddr::new(self.client, wanted.sender_port);
        let dscp = Dscp::new(wanted.dscp).unwrap_or_default();
        if self.sessions.len() >= MOST_SESSIONS || !self.agreed.agree(peer, dscp, wall_ns) {
            octets[0] = FULL;
            return octets;
        }
        // NTP's format: seconds, and a fraction.
        let timeout_ns = (wanted.timeout >> 32).min(LONGEST_TIMEOUT_S) * 1_000_000_000;
        self.stopped.retain(|old| *old != peer);
        self.sessions.push((peer, timeout_ns));
        octets[2..4].copy_from_slice(&self.port.to_be_bytes());
        // Address, time, and what nobody else has (RFC 4656 section 3.5): nothing here depends on it.
        octets[4..6].copy_from_slice(&wanted.sender_port.to_be_bytes());
        octets[8..16].copy_from_slice(&wanted.start.to_be_bytes());
        octets[12..20].copy_from_slice(&self.secret.to_be_bytes());
        octets
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        let sessions = self.sessions.iter().map(|(peer, _)| peer);
        for peer in sessions.chain(&self.stopped) {
            self.agreed.end(*peer);
        }
    }
}
