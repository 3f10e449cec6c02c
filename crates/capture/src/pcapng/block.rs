//! Blocks and options as octets.

/// A block that is being put together.
#[derive(Debug, Default)]
pub(super) struct Block {
    octets: Vec<u8>,
}

/// Type and length before the body.
const HEAD: usize = 8;

impl Block {
    /// Begins a block of another type, with an empty body.
    pub(super) fn begin(&mut self, kind: u32) {
        self.octets.clear();
        self.u32(kind);
        // The length, which is not known yet.
        self.u32(0);
    }

    pub(super) fn u16(&mut self, number: u16) {
        self.octets.extend(number.to_le_bytes());
    }

    pub(super) fn u32(&mut self, number: u32) {
        self.octets.extend(number.to_le_bytes());
    }

    /// A time: the upper half before the lower (section 4.3), whatever the order of octets.
    pub(super) fn time(&mut self, wall_ns: u64) {
        self.octets.extend(wall_ns.rotate_left(32).to_le_bytes());
    }

    /// Octets, padded with zeros to a multiple of four.
    pub(super) fn padded(&mut self, octets: &[u8]) {
        self.octets.extend(octets);
        self.octets.resize(self.octets.len().next_multiple_of(4), 0);
    }

    /// An option; more than 65,535 octets are cut.
    pub(super) fn option(&mut self, code: u16, octets: &[u8]) {
        let length = u16::try_from(octets.len()).unwrap_or(u16::MAX);
        self.u16(code);
        self.u16(length);
        self.padded(&octets[..usize::from(length)]);
    }

    /// An option that is a text, if there is any.
    pub(super) fn text(&mut self, code: u16, text: &str) {
        let end = text.floor_char_boundary(usize::from(u16::MAX));
        if end > 0 {
            self.option(code, &text.as_bytes()[..end]);
        }
    }

    /// An option that is a count: 64 bits in the section's order of octets.
    pub(super) fn count(&mut self, code: u16, number: u64) {
        self.option(code, &number.to_le_bytes());
    }

    /// An option that is a time.
    pub(super) fn time_option(&mut self, code: u16, wall_ns: u64) {
        self.u16(code);
        self.u16(8);
        self.time(wall_ns);
    }

    /// Ends the options, if the body has any (`since` is where they began), and the block.
    pub(super) fn finish(&mut self, since: usize) -> &[u8] {
        if self.octets.len() > since {
            self.u32(0);
        }
        let length = u32::try_from(self.octets.len() + 4).unwrap_or(u32::MAX);
        self.octets[HEAD - 4..HEAD].copy_from_slice(&length.to_le_bytes());
        self.u32(length);
        &self.octets
    }

    /// Where the next octet goes.
    pub(super) fn len(&self) -> usize {
        self.octets.len()
    }
}
