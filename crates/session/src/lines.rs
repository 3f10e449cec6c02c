//! Octets in, lines out, with a bound on their length.

/// The longest line either end takes, the line feed included. A larger result is sent in many lines.
pub const MAX_LINE: usize = 64 * 1024;

/// Cuts a stream of octets into lines.
///
/// A line may arrive in any number of pieces; what is incomplete waits inside, at most [`MAX_LINE`]
/// octets of it.
#[derive(Debug, Default)]
pub struct Lines {
    buffer: Vec<u8>,
    /// The front of `buffer` that is known to hold no line feed.
    searched: usize,
}

/// A line was longer than [`MAX_LINE`]: the stream cannot be followed any further.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TooLong;

impl Lines {
    /// Takes what has arrived.
    pub fn push(&mut self, octets: &[u8]) {
        self.buffer.extend_from_slice(octets);
    }

    /// The next whole line without its line feed, or `None` until more has arrived.
    ///
    /// # Errors
    /// [`TooLong`], again at every later call.
    pub fn next_line(&mut self) -> Result<Option<Vec<u8>>, TooLong> {
        let fresh = self.buffer[self.searched..].iter();
        match fresh.copied().position(|octet| octet == b'\n') {
            Some(at) if self.searched + at < MAX_LINE => {
                let mut line: Vec<u8> = self.buffer.drain(..=self.searched + at).collect();
                line.pop();
                self.searched = 0;
                Ok(Some(line))
            }
            None if self.buffer.len() < MAX_LINE => {
                self.searched = self.buffer.len();
                Ok(None)
            }
            _ => Err(TooLong),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_longest_line_passes_and_one_octet_more_does_not() {
        let mut lines = Lines::default();
        lines.push(&vec![b'x'; MAX_LINE - 1]);
        assert_eq!(lines.next_line(), Ok(None));
        lines.push(b"\nrest");
        assert_eq!(lines.next_line(), Ok(Some(vec![b'x'; MAX_LINE - 1])));
        lines.push(&vec![b'x'; MAX_LINE - 4]);
        assert_eq!(lines.next_line(), Err(TooLong));
        lines.push(b"\n");
        assert_eq!(lines.next_line(), Err(TooLong));
    }

    proptest! {
        #[test]
        fn lines_are_the_same_in_whatever_pieces_they_arrive(
            lines in prop::collection::vec("[^\n]{0,40}", 0..20),
            piece in 1_usize..50,
        ) {
            let stream: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
            let (mut cutter, mut seen) = (Lines::default(), Vec::new());
            for octets in stream.as_bytes().chunks(piece) {
                cutter.push(octets);
                while let Some(line) = cutter.next_line().unwrap() {
                    seen.push(String::from_utf8(line).unwrap());
                }
            }
            prop_assert_eq!(seen, lines);
        }
    }
}
