//! What one end sent and received.

use super::wire::number;
use super::{Params, stream_id};
use serde_json::{Value, json};
use std::time::Duration;

/// A test as one end saw it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// Processor time of the end's process by the test's time, in per cent: all, its own, the system's for it.
    pub cpu_pct: [f64; 3],
    /// Congestion control of its senders.
    pub congestion: Option<String>,
    /// Its end of each stream.
    pub streams: Vec<Stream>,
}

/// One end of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stream {
    /// Number of the stream.
    pub id: u64,
    /// Octets sent from here, or received here.
    pub bytes: u64,
    /// Segments that were sent again from here; none where it does not send, or does not know.
    pub retransmits: Option<u64>,
    /// Jitter of the datagrams that arrived here (RFC 3550 section 6.4.1), in seconds.
    pub jitter_s: f64,
    /// Datagrams that did not arrive here, of all.
    pub lost: u64,
    /// Datagrams sent from here, or the highest number that arrived here.
    pub packets: u64,
    /// Those of both that were of the time that does not count.
    pub omitted: (u64, u64),
    /// How long the stream lasted.
    pub time: Duration,
}

impl Results {
    /// The end of stream `index`.
    pub fn stream(&self, index: usize) -> Option<&Stream> {
        let id = stream_id(index);
        self.streams.iter().find(|stream| stream.id == id)
    }

    pub(super) fn to_json(&self) -> Value {
        let knows = self.streams.iter().any(|s| s.retransmits.is_some());
        let streams: Vec<Value> = self.streams.iter().map(|stream| stream.to_json()).collect();
        let [total, user, system] = self.cpu_pct;
        let mut all = json!({
            "cpu_util_total": total,
            "cpu_util_user": user,
            "cpu_util_system": system,
            "sender_has_retransmits": if knows { 1 } else { -1 },
            "streams": streams,
        });
        if let Some(congestion) = &self.congestion {
            all["congestion_used"] = json!(congestion);
        }
        all
    }

    /// Reads what the other end tells of a test of `params`.
    pub(super) fn read(json: &Value, params: &Params) -> Self {
        let streams = json["streams"].as_array().into_iter().flatten();
        let cpu = ["total", "user", "system"].map(|of| &json[format!("cpu_util_{of}")]);
        Self {
            cpu_pct: cpu.map(|share| share.as_f64().unwrap_or(0.0)),
            congestion: json["congestion_used"].as_str().map(str::to_owned),
            streams: streams.take(params.streams()).map(Stream::read).collect(),
        }
    }
}

impl Stream {
    fn to_json(self) -> Value {
        let retransmits = self.retransmits.map_or_else(|| json!(-1), |n| json!(n));
        json!({
            "id": self.id,
            "bytes": self.bytes,
            "retransmits": retransmits,
            "jitter": self.jitter_s,
            "errors": self.lost,
            "omitted_errors": self.omitted.0,
            "packets": self.packets,
            "omitted_packets": self.omitted.1,
            "start_time": 0,
            "end_time": self.time.as_secs_f64(),
        })
    }

    fn read(json: &Value) -> Self {
        let seconds = |key: &str| json[key].as_f64().unwrap_or(0.0);
        let time = seconds("end_time") - seconds("start_time");
        Self {
            id: number(json, "id"),
            bytes: number(json, "bytes"),
            retransmits: json["retransmits"].as_u64(),
            jitter_s: seconds("jitter"),
            lost: number(json, "errors"),
            packets: number(json, "packets"),
            omitted: (
                number(json, "omitted_errors"),
                number(json, "omitted_packets"),
            ),
            time: Duration::try_from_secs_f64(time).unwrap_or_default(),
        }
    }
}
