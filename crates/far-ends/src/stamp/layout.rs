//! Where what stands in a packet. The sequence number is at 0 always.

/// Offsets in octets; those from `received` on are a reflector's alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Of the packet without TLVs.
    pub(super) len: usize,
    pub(super) stamp: usize,
    pub(super) error: usize,
    /// RFC 8972 section 3.
    pub(super) id: usize,
    pub(super) received: usize,
    /// What the sender said: its number, its stamp, its error estimate, and the hops that its packet might still have gone.
    pub(super) number: usize,
    pub(super) sent: usize,
    pub(super) sent_error: usize,
    pub(super) hops: usize,
}

/// The unauthenticated mode (RFC 8762 sections 4.2.1 and 4.3.1).
pub(crate) const OPEN: Layout = Layout {
    len: 44,
    stamp: 4,
    error: 12,
    id: 14,
    received: 16,
    number: 24,
    sent: 28,
    sent_error: 36,
    hops: 40,
};

/// The authenticated mode (RFC 8762 sections 4.2.2 and 4.3.2): what is not zero begins at multiples of 16 octets, and a tag ends it.
pub(super) const SIGNED: Layout = Layout {
    len: 112,
    stamp: 16,
    error: 24,
    id: 26,
    received: 32,
    number: 48,
    sent: 64,
    sent_error: 72,
    hops: 80,
};

/// Writes `value` into `packet` at `at`, if it has room there.
pub(super) fn put(packet: &mut [u8], at: usize, value: &[u8]) {
    if let Some(place) = packet.get_mut(at..at + value.len()) {
        place.copy_from_slice(value);
    }
}
