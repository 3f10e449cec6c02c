//! ndt7, the Network Diagnostic Tool of Measurement Lab (version 0.11 of its specification): a download or an upload over one WebSocket
//! within TLS.
//!
//! ```text
//! near: GET /ndt/v7/download or /ndt/v7/upload, for a WebSocket of the subprotocol net.measurementlab.ndt.v7
//! one:  binary messages as fast as the path takes them, for ten seconds; ever longer ones on a fast path
//! both: now and then a text: what it has counted, and what its TCP tells
//! ```
//!
//! Whoever sends the texts is asked for nothing and waits for nothing. What is read of them here is what the specification names, and of the
//! rest of the server's `TCP_INFO` the two counters of segments.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The port of servers; those of other people's that run for a test often have 4443.
pub const PORT: u16 = 443;
/// What both ends agree on when the WebSocket is opened.
pub const SUBPROTOCOL: &str = "net.measurementlab.ndt.v7";
/// How long a sender sends.
pub const LASTS: Duration = Duration::from_secs(10);
/// After this long either end may close the connection.
pub const LONGEST: Duration = Duration::from_secs(13);
/// The longest binary message that must be accepted, octets.
pub const LONGEST_MESSAGE: usize = 1 << 24;
/// The longest text that is read, octets.
pub const LONGEST_TEXT: usize = 64 << 10;

/// Which way the load goes.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Test {
    /// From the server.
    Download,
    /// To the server.
    Upload,
}

impl Test {
    /// The path of its URL.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Download => "/ndt/v7/download",
            Self::Upload => "/ndt/v7/upload",
        }
    }

    /// The test at a path.
    pub fn at(path: &str) -> Option<Self> {
        let both = [Self::Download, Self::Upload];
        both.into_iter().find(|test| test.path() == path)
    }
}

/// How long the next binary message is: twice as long as the one before, once a sixteenth of what was sent is as much (the specification's
/// appendix). A receiver counts a message when all of it has come, so those of a slow path are short.
#[derive(Clone, Copy, Debug)]
pub struct MessageSize {
    octets: usize,
    sent: usize,
}

impl MessageSize {
    /// The first messages, octets.
    pub const FIRST: usize = 1 << 13;
    /// The longest, octets: longer ones only make the receiver's count coarser.
    pub const LONGEST: usize = 1 << 18;

    /// The length of the next message, which is then sent.
    pub fn grow(&mut self) -> usize {
        if self.octets < Self::LONGEST && self.octets < self.sent / 16 {
            self.octets *= 2;
        }
        self.sent = self.sent.saturating_add(self.octets);
        self.octets
    }
}

impl Default for MessageSize {
    fn default() -> Self {
        Self {
            octets: Self::FIRST,
            sent: 0,
        }
    }
}

/// What one end tells the other. What is missing was not told.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Measurement {
    /// What the program has counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_info: Option<AppInfo>,
    /// Whose connection it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_info: Option<ConnectionInfo>,
    /// Who tells: `client` or `server`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Of which test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<Test>,
    /// What the kernel tells of the connection.
    #[serde(rename = "TCPInfo", skip_serializing_if = "Option::is_none")]
    pub tcp_info: Option<TcpInfo>,
}

/// What a program has counted.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct AppInfo {
    /// Since the test began, microseconds.
    pub elapsed_time: u64,
    /// Octets of messages, sent or received.
    pub num_bytes: u64,
}

/// The two ends of a connection as the server sees them: `ADDRESS:PORT`.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ConnectionInfo {
    /// The client's.
    pub client: String,
    /// The server's.
    pub server: String,
}

/// `TCP_INFO` of the connection; times in microseconds.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct TcpInfo {
    /// Since the test began.
    pub elapsed_time: Option<u64>,
    /// With data to send.
    pub busy_time: Option<u64>,
    /// Octets acknowledged to this end.
    pub bytes_acked: Option<u64>,
    /// Octets received.
    pub bytes_received: Option<u64>,
    /// Octets sent, retransmissions included.
    pub bytes_sent: Option<u64>,
    /// Octets retransmitted.
    pub bytes_retrans: Option<u64>,
    /// Smallest round-trip time in the kernel's window.
    #[serde(rename = "MinRTT")]
    pub min_rtt: Option<u64>,
    /// Smoothed round-trip time.
    #[serde(rename = "RTT")]
    pub rtt: Option<u64>,
    /// Its mean deviation.
    #[serde(rename = "RTTVar")]
    pub rtt_var: Option<u64>,
    /// Stalled by the receiver's window.
    #[serde(rename = "RWndLimited")]
    pub rwnd_limited: Option<u64>,
    /// Stalled by the send buffer.
    pub snd_buf_limited: Option<u64>,
    /// Segments retransmitted; not of the specification.
    pub total_retrans: Option<u64>,
    /// Congestion window, segments; not of the specification.
    pub snd_cwnd: Option<u64>,
}

impl Measurement {
    /// Reads a text; none where it is too long, or no measurement.
    pub fn read(text: &[u8]) -> Option<Self> {
        let is_short = text.len() <= LONGEST_TEXT;
        is_short.then(|| serde_json::from_slice(text).ok())?
    }

    /// The text of it.
    pub fn write(&self) -> String {
        // Strings and numbers always have a form in JSON.
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the specification, whose example has commas too many.
    const EXAMPLE: &str = r#"{
      "AppInfo": { "ElapsedTime": 1234, "NumBytes": 5678 },
      "ConnectionInfo": {
        "Client": "1.2.3.4:5678", "Server": "[::1]:2345",
        "UUID": "<platform-specific-string>", "StartTime": "2019-07-16T15:26:05.987748459-04:00"
      },
      "Origin": "server",
      "Test": "download",
      "TCPInfo": {
        "BusyTime": 1, "BytesAcked": 2, "BytesReceived": 3, "BytesSent": 4, "BytesRetrans": 5, "ElapsedTime": 6,
        "MinRTT": 7, "RTT": 8, "RTTVar": 9, "RWndLimited": 10, "SndBufLimited": 11, "State": 1
      }
    }"#;

    #[test]
    fn the_example_of_the_specification_is_read_and_written() {
        let read = Measurement::read(EXAMPLE.as_bytes()).unwrap();
        let tcp = read.tcp_info.unwrap();
        assert_eq!((tcp.busy_time, tcp.bytes_acked), (Some(1), Some(2)));
        assert_eq!((tcp.bytes_received, tcp.bytes_sent), (Some(3), Some(4)));
        assert_eq!((tcp.bytes_retrans, tcp.elapsed_time), (Some(5), Some(6)));
        assert_eq!((tcp.min_rtt, tcp.rtt), (Some(7), Some(8)));
        assert_eq!((tcp.rtt_var, tcp.rwnd_limited), (Some(9), Some(10)));
        assert_eq!((tcp.snd_buf_limited, tcp.snd_cwnd), (Some(11), None));
        assert_eq!(read.test, Some(Test::Download));
        assert_eq!(read.app_info.unwrap().num_bytes, 5_678);
        assert_eq!(Measurement::read(read.write().as_bytes()), Some(read));
    }

    #[test]
    fn what_is_no_measurement_is_none_and_what_is_missing_is_not_told() {
        assert_eq!(Measurement::read(b"{}"), Some(Measurement::default()));
        assert_eq!(Measurement::default().write(), "{}");
        for text in ["", "null", "7", r#"{"TCPInfo": {"RTT": -1}}"#] {
            assert_eq!(Measurement::read(text.as_bytes()), None, "{text}");
        }
        let long = format!("{{}}{}", " ".repeat(LONGEST_TEXT));
        assert_eq!(Measurement::read(long.as_bytes()), None);
    }

    #[test]
    fn messages_become_longer_on_a_fast_path_only() {
        let mut size = MessageSize::default();
        let first: Vec<_> = (0..18).map(|_| size.grow()).collect();
        // Sixteen of the first are not yet more than sixteen times one.
        assert!(first[..17].iter().all(|octets| *octets == 1 << 13));
        assert_eq!(first[17], 1 << 14);
        let later: Vec<_> = (0..10_000).map(|_| size.grow()).collect();
        assert_eq!(later.last(), Some(&MessageSize::LONGEST));
    }

    #[test]
    fn a_test_has_a_path() {
        assert_eq!(Test::at("/ndt/v7/upload"), Some(Test::Upload));
        assert_eq!(Test::at(Test::Download.path()), Some(Test::Download));
        assert_eq!(Test::at("/ndt/v7/"), None);
    }
}
