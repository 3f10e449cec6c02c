//! The time stamps of NTP and PTP, as 64 bits: seconds and a fraction (RFC 5905 section 6), or seconds and nanoseconds (RFC 8877
//! section 4.3). Here time is nanoseconds since 1970.

/// From 1900, where NTP's seconds begin, to 1970: seconds.
const EPOCHS: u64 = 2_208_988_800;
const SECOND: u64 = 1_000_000_000;

/// `unix_ns` as an NTP time stamp; its seconds begin anew in 2036 (era 1).
pub const fn to_ntp(unix_ns: u64) -> u64 {
    let seconds = unix_ns / SECOND + EPOCHS;
    let fraction = ((unix_ns % SECOND) << 32) / SECOND;
    seconds << 32 | fraction
}

/// An NTP time stamp of the years 1968 to 2104 as nanoseconds since 1970: one whose first bit is not set is of era 1.
pub const fn from_ntp(stamp: u64) -> u64 {
    let (seconds, fraction) = (stamp >> 32, stamp & 0xffff_ffff);
    let era = if seconds < 1 << 31 { 1 << 32 } else { 0 };
    let seconds = (seconds + era).saturating_sub(EPOCHS);
    let ns = (fraction * SECOND + (1 << 31)) >> 32;
    seconds * SECOND + ns
}

/// A truncated PTP time stamp as nanoseconds since its epoch.
pub const fn from_ptp(stamp: u64) -> u64 {
    (stamp >> 32) * SECOND + (stamp & 0xffff_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_standard() {
        // RFC 5905 figure 4: the first day of Unix, the day UTC began in 1972, and the last of era 0.
        for (days_since_1970, seconds) in [(0, 2_208_988_800_u64), (730, 2_272_060_800)] {
            let ns = days_since_1970 * 86_400 * SECOND;
            assert_eq!(to_ntp(ns), seconds << 32);
            assert_eq!(from_ntp(seconds << 32), ns);
        }
        // 7 February 2036, 06:28:16: the first second of era 1.
        let era_1 = (u64::from(u32::MAX) + 1 - EPOCHS) * SECOND;
        assert_eq!(to_ntp(era_1), 0);
        assert_eq!(from_ntp(0), era_1);
    }

    #[test]
    fn a_stamp_keeps_the_nanosecond() {
        for ns in [1_u64, 499_999_999, 500_000_000, 999_999_999] {
            let at = 1_795_000_000 * SECOND + ns;
            assert!(from_ntp(to_ntp(at)).abs_diff(at) <= 1);
        }
        assert_eq!(from_ptp(7 << 32 | 5), 7 * SECOND + 5);
    }
}
