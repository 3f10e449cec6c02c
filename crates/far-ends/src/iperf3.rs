//! iperf3: TCP or UDP as fast as it goes, and how much of it arrived.
//!
//! A test has one control connection, and beside it as many streams as the client asks for. On the control connection client and
//! server take turns with *states*, single octets, and with JSON behind its length. Source: the behaviour of iperf 3.12, and of 3.19
//! where it differs; there is no specification.
//!
//! ```text
//! client: cookie                  37 octets that name the test, the last one zero
//! server: PARAM_EXCHANGE          or ACCESS_DENIED: it is busy with another test
//! client: {"tcp":true,...}        what the test is to be
//! server: CREATE_STREAMS          the client opens its streams to the same port, each with the cookie in front
//! server: TEST_START, TEST_RUNNING
//!         ... the streams, both ways where the test is bidirectional
//! client: TEST_END
//! server: EXCHANGE_RESULTS
//! client: {"streams":[...],...}   what it sent and received
//! server: {"streams":[...],...}   the same of the server
//! server: DISPLAY_RESULTS
//! client: IPERF_DONE
//! ```
//!
//! Streams are numbered 1, 3, 4, 5 and so on, in the order in which they are opened; those that the client sends on are the first.
//! [`Client`] and [`Server`] are the two ends of the control connection: octets go in by `handle`, octets to be sent come out of
//! `take_output`, and `poll_event` says what is to be done beside. Streams are none of their business.

mod client;
mod datagram;
mod params;
mod results;
mod server;
mod wire;

#[cfg(test)]
mod tests;

pub use client::{Client, Event};
pub use datagram::{CONNECT, CONNECTED, Head, Tally, is_connect};
pub use params::{MOST_STREAMS, Params, Transport};
pub use results::{Results, Stream};
pub use server::{Asked, Server};

/// The port of control connections and streams, and of datagrams.
pub const PORT: u16 = 5_201;
/// Octets that name a test, in front of every connection of it.
pub const COOKIE: usize = 37;

/// What one end tells the other on the control connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(i8)]
enum State {
    TestStart = 1,
    TestRunning = 2,
    TestEnd = 4,
    ParamExchange = 9,
    CreateStreams = 10,
    ServerTerminate = 11,
    ClientTerminate = 12,
    ExchangeResults = 13,
    DisplayResults = 14,
    IperfDone = 16,
    AccessDenied = -1,
    ServerError = -2,
}

impl State {
    const ALL: [Self; 12] = [
        Self::TestStart,
        Self::TestRunning,
        Self::TestEnd,
        Self::ParamExchange,
        Self::CreateStreams,
        Self::ServerTerminate,
        Self::ClientTerminate,
        Self::ExchangeResults,
        Self::DisplayResults,
        Self::IperfDone,
        Self::AccessDenied,
        Self::ServerError,
    ];

    fn of(octet: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.octet() == octet)
    }

    const fn octet(self) -> u8 {
        (self as i8).cast_unsigned()
    }
}

/// The octet that tells a client to come again later.
pub const BUSY: u8 = State::AccessDenied.octet();

/// The number of stream `index`, from 0 on.
pub const fn stream_id(index: usize) -> u64 {
    if index == 0 { 1 } else { index as u64 + 2 }
}

/// The cookie of a test: 36 letters and digits, from four numbers that nobody can guess, and a zero.
pub fn cookie(random: [u64; 4]) -> [u8; COOKIE] {
    const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut cookie = [0; COOKIE];
    for (number, letters) in random.into_iter().zip(cookie.chunks_mut(9)) {
        for (place, letter) in letters.iter_mut().enumerate() {
            *letter = ALPHABET[usize::from((number >> (5 * place)).to_le_bytes()[0] % 32)];
        }
    }
    cookie[COOKIE - 1] = 0;
    cookie
}

/// What a server's error number means, for those that a client can do something about.
fn meaning(number: u32) -> String {
    let words = match number {
        5 | 37 => "the test is longer than it allows",
        6 => "it allows fewer streams",
        27 => "the rate is above its limit",
        134 => "it has no such congestion control",
        142 => "it wants a user name and a password (authentication is not supported)",
        144 => "it received nothing for too long",
        160 => "the test took longer than was agreed",
        _ => return format!("error {number} of iperf3"),
    };
    words.to_owned()
}
