//! What an ndt7 server tells of its TCP, as rows of the far end.

use super::ANSWER;
use far_ends::ndt7::{Measurement, TcpInfo};
use kit::stream;
use schema::tables::Series;
use std::time::Duration;
use units::Instant;

/// Minimum interval between recorded samples of the server's: it is asked not to tell more than ten times a second.
const LEAST_STEP: Duration = Duration::from_millis(20);

/// What a server has told of a stream that it sends.
#[derive(Default)]
pub(super) struct Told {
    pub(super) begun: Option<Instant>,
    /// The latest of each counter.
    pub(super) last: TcpInfo,
}

impl Told {
    /// The row of a measurement that arrives `now`, in a run that started at `origin`; none if it tells nothing new, or of a time to come.
    pub(super) fn row(
        &mut self,
        said: &Measurement,
        stream: u16,
        origin: Instant,
        now: Instant,
    ) -> Option<Series> {
        let info = said.tcp_info?;
        let elapsed = said.app_info.map(|app| app.elapsed_time);
        let at = Duration::from_micros(info.elapsed_time.or(elapsed)?);
        let before = Duration::from_micros(self.last.elapsed_time.unwrap_or_default());
        let since = now.since(self.begun?);
        // The server's test began earlier than ours, by no more than its answer took.
        if at < before + LEAST_STEP || at > since + ANSWER {
            return None;
        }
        let acked = info.bytes_acked.zip(self.last.bytes_acked.or(Some(0)));
        let narrow =
            |value: Option<u64>| value.map(|value| u32::try_from(value).unwrap_or(u32::MAX));
        let t = self.begun?.since(origin) + at.min(since);
        self.last = TcpInfo {
            elapsed_time: u64::try_from(at.as_micros()).ok(),
            bytes_acked: info.bytes_acked.or(self.last.bytes_acked),
            total_retrans: info.total_retrans.or(self.last.total_retrans),
            ..info
        };
        Some(Series {
            t_ns: stream::nanos(t),
            bin_ns: stream::nanos(at.saturating_sub(before)),
            stream,
            direction: "down".into(),
            end: "server".into(),
            acked_bytes: acked.map(|(now, before)| now.saturating_sub(before)),
            rtt_us: narrow(info.rtt),
            min_rtt_us: narrow(info.min_rtt),
            cwnd_segments: narrow(info.snd_cwnd),
            retransmits: info.total_retrans,
            busy_us: info.busy_time,
            rwnd_limited_us: info.rwnd_limited,
            sndbuf_limited_us: info.snd_buf_limited,
            ..Series::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_tells_becomes_rows_with_what_was_acknowledged_since_the_last() {
        let second = Duration::from_secs(1);
        let origin = Instant::ZERO + second;
        let mut told = Told {
            begun: Some(origin + 5 * second),
            ..Told::default()
        };
        let mut row = |text: &str| {
            let said = Measurement::read(text.as_bytes()).unwrap();
            told.row(&said, 3, origin, origin + 15 * second)
        };
        let first = r#"{"TCPInfo": {"ElapsedTime": 250000, "BytesAcked": 1000, "RTT": 24000, "TotalRetrans": 1}}"#;
        let row_1 = row(first).unwrap();
        assert_eq!((row_1.t_ns, row_1.bin_ns), (5_250_000_000, 250_000_000));
        assert_eq!(
            (row_1.acked_bytes, row_1.rtt_us),
            (Some(1_000), Some(24_000))
        );
        // One without the counter, and one that tells the time only once.
        let row_2 = row(r#"{"TCPInfo": {"ElapsedTime": 400000, "RTT": 99000000000}}"#).unwrap();
        assert_eq!((row_2.acked_bytes, row_2.rtt_us), (None, Some(u32::MAX)));
        let row_3 = row(r#"{"AppInfo": {"ElapsedTime": 500000}, "TCPInfo": {"BytesAcked": 4000}}"#)
            .unwrap();
        assert_eq!((row_3.t_ns, row_3.bin_ns), (5_500_000_000, 100_000_000));
        assert_eq!((row_3.acked_bytes, row_3.retransmits), (Some(3_000), None));
        // An old one again, one without a time, one of the future.
        for text in [
            first,
            r#"{"TCPInfo": {"RTT": 1}}"#,
            r#"{"TCPInfo": {"ElapsedTime": 18446744073709551615}}"#,
        ] {
            assert_eq!(row(text), None, "{text}");
        }
        // A little of the future is the server's earlier beginning.
        let row_4 = row(r#"{"TCPInfo": {"ElapsedTime": 10100000}}"#).unwrap();
        assert_eq!(row_4.t_ns, 15_000_000_000);
    }
}
