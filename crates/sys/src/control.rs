//! Control messages: what the kernel says about a packet beside its payload, and what it is told.
//!
//! A control buffer is a row of messages (`cmsg(3)`): a header of length, level and type, the data,
//! and padding to the size of a word.
//!
//! ```text
//! | length: usize (header + data) | level: i32 | type: i32 | data ... | padding |
//! ```
//!
//! The rows are read and written here as bytes, so that nothing in them can lead out of the buffer.

/// Octets in the header of a message.
const HEADER: usize = size_of::<usize>() + 8;
/// Octets in a buffer: more than all the messages of one packet that this crate asks for.
const CAPACITY: usize = 256;

/// A buffer of control messages for one packet, aligned as the kernel wants it.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(8))]
pub(crate) struct Control {
    bytes: [u8; CAPACITY],
    length: usize,
}

impl Control {
    /// No messages.
    pub(crate) const EMPTY: Self = Self {
        bytes: [0; CAPACITY],
        length: 0,
    };

    /// Adds a message.
    ///
    /// # Panics
    /// When the buffer is full: it holds every message that this crate sends with one packet.
    pub(crate) fn push(&mut self, level: i32, kind: i32, data: &[u8]) {
        let start = self.length;
        let length = HEADER + data.len();
        let message = &mut self.bytes[start..start + length];
        let (header, body) = message.split_at_mut(HEADER);
        let (size, rest) = header.split_at_mut(size_of::<usize>());
        size.copy_from_slice(&length.to_ne_bytes());
        rest[..4].copy_from_slice(&level.to_ne_bytes());
        rest[4..].copy_from_slice(&kind.to_ne_bytes());
        body.copy_from_slice(data);
        self.length = start + padded(length);
    }

    /// The messages as they are.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// The whole buffer, for the kernel to write to.
    pub(crate) fn buffer(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// Declares that the kernel has written `length` octets.
    pub(crate) fn set_length(&mut self, length: usize) {
        self.length = length.min(CAPACITY);
    }
}

/// One control message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Message<'a> {
    /// Protocol level: `SOL_SOCKET`, `IPPROTO_IP`, ...
    pub(crate) level: i32,
    /// Type within the level.
    pub(crate) kind: i32,
    /// What it says.
    pub(crate) data: &'a [u8],
}

impl Message<'_> {
    /// The `index`th 32-bit integer of the data.
    pub(crate) fn word(&self, index: usize) -> Option<u32> {
        self.bytes(4 * index).map(u32::from_ne_bytes)
    }

    /// `N` octets of the data from `offset` on.
    pub(crate) fn bytes<const N: usize>(&self, offset: usize) -> Option<[u8; N]> {
        self.data.get(offset..offset + N)?.try_into().ok()
    }

    /// The data as a small number, sent as one octet or as an integer.
    pub(crate) fn octet(&self) -> Option<u8> {
        match self.data {
            [octet] => Some(*octet),
            _ => u8::try_from(self.word(0)? & 0xff).ok(),
        }
    }
}

/// The messages in a control buffer, up to the first one that is malformed.
pub(crate) fn messages(mut rest: &[u8]) -> impl Iterator<Item = Message<'_>> {
    std::iter::from_fn(move || {
        let (size, header) = rest.get(..HEADER)?.split_at(size_of::<usize>());
        let length = usize::from_ne_bytes(size.try_into().ok()?);
        let message = Message {
            level: i32::from_ne_bytes(header[..4].try_into().ok()?),
            kind: i32::from_ne_bytes(header[4..].try_into().ok()?),
            data: rest.get(HEADER..length)?,
        };
        rest = rest.get(padded(length)..).unwrap_or_default();
        Some(message)
    })
}

/// `length` rounded up to whole words.
const fn padded(length: usize) -> usize {
    length.next_multiple_of(size_of::<usize>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn messages_come_back_as_they_were_pushed() {
        let mut control = Control::EMPTY;
        control.push(0, 1, &[7]);
        control.push(41, 67, &0x1234_i32.to_ne_bytes());
        let read: Vec<_> = messages(control.as_bytes()).collect();
        assert_eq!(read.len(), 2);
        assert_eq!(
            (read[0].level, read[0].kind, read[0].octet()),
            (0, 1, Some(7))
        );
        assert_eq!(
            (read[1].word(0), read[1].octet()),
            (Some(0x1234), Some(0x34))
        );
        assert_eq!(read[1].word(1), None);
    }

    #[test]
    fn a_length_that_lies_ends_the_row() {
        for length in [0, 15, 25, usize::MAX, usize::MAX - 7] {
            let mut control = Control::EMPTY;
            control.push(1, 2, &[0; 8]);
            control.buffer()[..size_of::<usize>()].copy_from_slice(&length.to_ne_bytes());
            assert_eq!(messages(control.as_bytes()).count(), 0, "{length}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..256)) {
            for message in messages(&bytes) {
                let _ = (message.octet(), message.word(3));
            }
        }
    }
}
