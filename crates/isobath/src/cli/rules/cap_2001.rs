//! The rules of M. Allman, *Measuring End-to-End Bulk Transfer Capacity* (2001), "the paper".
//!
//! Its tool *cap* "attempts to implement the congestion control algorithms" of RFC 2581 (section II); what the paper states
//! beyond that is noted at each rule. What neither states is as RFC 2581 leaves it: nothing that was standardised later
//! (RFC 3042, 3465, 6298, 6937, 8985) is on.

use transport::{DelayedAck, Growth, Options, Recovery, RtoFloor};
use units::Span;

/// Section IV: 1,049,800 bytes, "725 segments carrying 1448 bytes of data each".
pub(super) const SEGMENTS: u32 = 725;

/// See the module.
pub(super) fn options() -> Options {
    Options {
        // Section IV.
        mss: 1_448,
        // RFC 2581 section 3.1 allows two; the paper names the initial value as a choice (section III-C) but not which was made.
        initial_window: 1,
        // Section III-C: "we set the maximum congestion window [...] to 135 segments, just as for our TCP transfers".
        max_window: Some(135),
        // Section V: *cap* "waits for an entire cwnd to be acknowledged and then increases cwnd by 1 segment".
        growth: Growth::PerWindow,
        // RFC 2581 section 3.1: slow start grows by at most one segment for each acknowledgement.
        abc: Some(1),
        // RFC 2581 section 3.2, and RFC 2582 for partial acknowledgements. SACK is named as an option of the packets (section
        // III-C), not as used in the measurements.
        recovery: Recovery::NewReno,
        dup_thresh: 3,
        limited_transmit: false,
        prr: false,
        rack: false,
        undo: false,
        // Section III-C: "we enabled to use of timestamps (and the RTTM algorithm)".
        timestamps: true,
        // Section III-B refers to RFC 2988, whose sections 2.1 and 2.4 have 3 s and 1 s.
        rto_initial: Span::from_millis(3_000),
        rto_min: Span::from_millis(1_000),
        rto_floor: RtoFloor::Timeout,
        validate_window: false,
        // Section III-C: "we configured capd to use delayed ACKs". The paper does not say for how long; BSD's timer of
        // the time was 200 ms (RFC 1122 section 4.2.3.2 allows less than 500).
        delayed_ack: DelayedAck {
            every: 2,
            interval: Span::from_millis(200),
            quick: 0,
            compression: Span::default(),
        },
        ..Options::default()
    }
}
