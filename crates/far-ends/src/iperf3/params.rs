//! What a test is to be.

use super::wire::{is_set, number};
use serde_json::{Value, json};
use std::time::Duration;

/// Streams of one direction.
pub const MOST_STREAMS: u16 = 128;
/// The longest test, in seconds.
const LONGEST: u64 = 86_400;
/// The longest time at its start that does not count, in seconds.
const LONGEST_OMIT: u64 = 600;
/// Octets of the largest block, and of the least and the largest datagram.
const LARGEST_BLOCK: u64 = 1 << 20;
const DATAGRAMS: std::ops::RangeInclusive<u64> = 16..=65_507;
/// Octets of a block of TCP where nothing is said of it.
const USUAL_BLOCK: u64 = 128 << 10;
/// The largest segment and socket buffer that can be asked for.
const LARGEST_SEGMENT: u64 = 32_767;
const LARGEST_BUFFER: u64 = 512 << 20;
/// Octets of a datagram where nothing is said of it.
const USUAL_DATAGRAM: u64 = 1_460;
/// Bits per second of UDP where nothing is said of it.
const USUAL_RATE: u64 = 1 << 20;

/// What the streams are.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Transport {
    /// Connections.
    #[default]
    Tcp,
    /// Datagrams.
    Udp,
}

/// A test, as the client asks for it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "as the protocol has them")]
pub struct Params {
    /// What the streams are.
    pub transport: Transport,
    /// Streams of each direction.
    pub parallel: u16,
    /// Whether the client sends.
    pub up: bool,
    /// Whether the server sends.
    pub down: bool,
    /// How long, without what is omitted; zero where octets or blocks end it.
    pub time: Duration,
    /// How long at the start nothing counts.
    pub omit: Duration,
    /// Octets after which a stream's sender ends; zero for none.
    pub octets: u64,
    /// Blocks after which a stream's sender ends; zero for none.
    pub blocks: u64,
    /// Octets of a block or a datagram.
    pub block: usize,
    /// Bits per second of each stream; zero for as fast as it goes.
    pub rate_bps: u64,
    /// Bits per second to which the kernel paces each stream; zero for none.
    pub pacing_bps: u64,
    /// Largest segment; zero for the system's.
    pub segment: u32,
    /// Octets of the socket's buffers; zero for the system's.
    pub window: u32,
    /// Whether small segments leave at once.
    pub no_delay: bool,
    /// Type-of-service octet of the senders.
    pub class: u8,
    /// Congestion control of the senders.
    pub congestion: Option<String>,
    /// Whether datagrams have numbers of 64 bits.
    pub long_numbers: bool,
}

impl Params {
    /// Streams in all.
    pub fn streams(&self) -> usize {
        usize::from(self.parallel) * (usize::from(self.up) + usize::from(self.down))
    }

    /// Whether the client sends on stream `index`: those that it sends on come first.
    pub fn is_up(&self, index: usize) -> bool {
        self.up && index < usize::from(self.parallel)
    }

    /// What it looks like on the control connection.
    pub(super) fn to_json(&self) -> Value {
        let transport = match self.transport {
            Transport::Tcp => "tcp",
            Transport::Udp => "udp",
        };
        let mut all = json!({
            transport: true,
            "omit": self.omit.as_secs(),
            "time": self.time.as_secs(),
            "num": self.octets,
            "blockcount": self.blocks,
            "parallel": self.parallel,
            "len": self.block,
            "pacing_timer": 1_000,
            "client_version": "3.12",
        });
        let mut add = |key: &str, value: Value| all[key] = value;
        match (self.up, self.down) {
            (true, true) => add("bidirectional", json!(true)),
            (false, true) => add("reverse", json!(true)),
            _ => {}
        }
        if self.transport == Transport::Udp {
            add("udp_counters_64bit", json!(1));
        }
        if self.rate_bps > 0 {
            add("bandwidth", json!(self.rate_bps));
        }
        if self.no_delay {
            add("nodelay", json!(true));
        }
        if self.class > 0 {
            add("TOS", json!(self.class));
        }
        if let Some(congestion) = &self.congestion {
            add("congestion", json!(congestion));
        }
        all
    }

    /// Reads what a client asks for.
    ///
    /// # Errors
    /// iperf3's number of what cannot be.
    pub(super) fn read(json: &Value) -> Result<Self, u32> {
        let transport = if is_set(json, "udp") {
            Transport::Udp
        } else {
            Transport::Tcp
        };
        if is_set(json, "sctp") {
            return Err(18);
        }
        if json["authtoken"].is_string() {
            return Err(142);
        }
        let within = |key: &str, most: u64, error: u32| {
            let value = number(json, key);
            (value <= most).then_some(value).ok_or(error)
        };
        let block = match (number(json, "len"), transport) {
            (0, Transport::Tcp) => USUAL_BLOCK,
            (0, Transport::Udp) => USUAL_DATAGRAM,
            (block, Transport::Tcp) if block > LARGEST_BLOCK => return Err(7),
            (block, Transport::Udp) if !DATAGRAMS.contains(&block) => return Err(20),
            (block, _) => block,
        };
        let rate_bps = match (number(json, "bandwidth"), transport) {
            // A client that wants UDP as fast as it goes says so by a rate of 0.
            (0, Transport::Udp) if json["bandwidth"].is_null() => USUAL_RATE,
            (rate, _) => rate,
        };
        let is_bidirectional = is_set(json, "bidirectional");
        let down = is_bidirectional || is_set(json, "reverse");
        let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        let parallel = within("parallel", MOST_STREAMS.into(), 6)?.max(1);
        Ok(Self {
            transport,
            parallel: u16::try_from(parallel).unwrap_or(MOST_STREAMS),
            up: !down || is_bidirectional,
            down,
            time: Duration::from_secs(within("time", LONGEST, 5)?),
            omit: Duration::from_secs(within("omit", LONGEST_OMIT, 12)?),
            octets: number(json, "num"),
            blocks: number(json, "blockcount"),
            block: usize::try_from(block).unwrap_or_default(),
            rate_bps,
            pacing_bps: number(json, "fqrate"),
            segment: narrow(within("MSS", LARGEST_SEGMENT, 10)?),
            window: narrow(within("window", LARGEST_BUFFER, 8)?),
            no_delay: is_set(json, "nodelay"),
            class: u8::try_from(within("TOS", 255, 21)?).unwrap_or_default(),
            congestion: json["congestion"].as_str().map(str::to_owned),
            long_numbers: is_set(json, "udp_counters_64bit"),
        })
    }
}
