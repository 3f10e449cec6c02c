//! Recorded packets of others.

use crate::Error;
use crate::random::unit_hash;
use std::str::FromStr;
use std::time::Duration;
use units::Rate;

/// What the beginnings of copies come from.
const COPIES: u64 = 0x0C09_1E50;

/// Sizes and gaps of recorded packets; never empty, and longer than no time.
///
/// One line a packet: the gap since the packet before in whole microseconds, and its octets on the link, as in `350 1500`.
/// After the last line it begins anew. Empty lines and those that begin with `#` are skipped.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Recording {
    packets: Vec<(Duration, u32)>,
}

impl Recording {
    /// Packet number `index` of the endless repetition: the gap before it, and its octets.
    pub fn packet(&self, index: u64) -> (Duration, u32) {
        let place = index.checked_rem(self.packets.len() as u64);
        let place = place.and_then(|place| usize::try_from(place).ok());
        let packet = place.and_then(|place| self.packets.get(place));
        packet.copied().unwrap_or((Duration::from_secs(1), 1_500))
    }

    /// As many of it at once, each begun at another time, which depends on its number alone. The period stays.
    #[must_use]
    pub fn times(&self, copies: u32) -> Self {
        let period = self.period();
        let mut events = Vec::with_capacity(self.packets.len().saturating_mul(copies as usize));
        for copy in 0..u64::from(copies) {
            let mut at = period.mul_f64(unit_hash(copy, COPIES));
            for (gap, octets) in &self.packets {
                at = at.saturating_add(*gap);
                events.push((at.checked_sub(period).unwrap_or(at), *octets));
            }
        }
        events.sort_unstable();
        let mut before = events.last().map_or(Duration::ZERO, |(at, _)| *at);
        let mut wrap = period;
        let packets = events.into_iter().map(|(at, octets)| {
            let gap = (at + std::mem::take(&mut wrap)).saturating_sub(before);
            before = at;
            (gap, octets)
        });
        Self {
            packets: packets.collect(),
        }
    }

    /// The time after which it begins anew.
    pub fn period(&self) -> Duration {
        let gaps = self.packets.iter().map(|(gap, _)| *gap);
        gaps.fold(Duration::ZERO, Duration::saturating_add)
    }

    /// Its rate on average; `None` when it does not fit.
    pub fn mean_rate(&self) -> Option<Rate> {
        let octets = self.packets.iter().map(|(_, octets)| u64::from(*octets));
        Rate::from_transfer(octets.fold(0, u64::saturating_add), self.period())
    }

    /// Octets of a packet on average.
    pub fn mean_octets(&self) -> f64 {
        let octets: f64 = self
            .packets
            .iter()
            .map(|(_, octets)| f64::from(*octets))
            .sum();
        octets / self.packets.len().max(1) as f64
    }
}

/// `350 1500`.
fn packet(line: &str) -> Option<(Duration, u32)> {
    let (gap, octets) = line.split_once(char::is_whitespace)?;
    let octets = octets.trim().parse().ok().filter(|octets| *octets > 0)?;
    Some((Duration::from_micros(gap.parse().ok()?), octets))
}

impl FromStr for Recording {
    type Err = Error;

    /// Reads one packet a line.
    ///
    /// # Errors
    ///
    /// [`Error::RecordingLine`] names the first line that is no packet; [`Error::RecordingEmpty`] when there is none, or all
    /// of them take no time.
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut packets = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            packets.push(packet(line).ok_or_else(|| Error::RecordingLine {
                line: index + 1,
                text: line.chars().take(40).collect(),
            })?);
        }
        let recording = Self { packets };
        if recording.period().is_zero() {
            return Err(Error::RecordingEmpty);
        }
        Ok(recording)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn packets_are_read_and_repeat() {
        let recording: Recording = "# a comment\n1000 1500\n\n500  40\n".parse().unwrap();
        let milliseconds = Duration::from_millis(1);
        assert_eq!(recording.packet(0), (milliseconds, 1_500));
        assert_eq!(recording.packet(2), (milliseconds, 1_500));
        assert_eq!(recording.packet(3), (Duration::from_micros(500), 40));
        // 1,540 octets in 1.5 ms.
        assert_eq!(recording.mean_rate(), Rate::from_bps(8_213_333));
        assert!((recording.mean_octets() - 770.0).abs() < 1e-9);
    }

    #[test]
    fn errors_name_the_line() {
        let error = |text: &str| text.parse::<Recording>().unwrap_err().to_string();
        assert_eq!(
            error("1 40\n2\n"),
            "recording line 2: '2' is no packet - write the gap in us and the octets, such as '350 1500'"
        );
        assert!(error("1 0").starts_with("recording line 1"));
        assert!(error("-1 40").starts_with("recording line 1"));
        assert!(error("").starts_with("recording: it has no packets"));
        assert!(error("0 40\n0 40").starts_with("recording: it has no packets"));
    }

    proptest! {
        #[test]
        fn copies_send_as_much_each_in_the_same_time(
            packets in prop::collection::vec((0_u64..5_000, 20_u32..1_500), 1..40),
            copies in 1_u32..20,
        ) {
            prop_assume!(packets.iter().any(|(gap, _)| *gap > 0));
            let packets = packets.into_iter().map(|(us, octets)| (Duration::from_micros(us), octets));
            let one = Recording { packets: packets.collect() };
            let all = one.times(copies);
            prop_assert_eq!(all.packets.len(), one.packets.len() * copies as usize);
            prop_assert_eq!(all.period(), one.period());
            prop_assert!((all.mean_octets() - one.mean_octets()).abs() < 1e-6);
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[0-9 #x\\n-]{0,60}") {
            if let Ok(recording) = text.parse::<Recording>() {
                let _ = (recording.mean_rate(), recording.packet(u64::MAX));
            }
        }
    }
}
