//! Lines of a file, each in bounded memory.

use std::io::{self, BufRead};

/// Octets of a line that are kept: the longest that means something has 65.
const KEPT: usize = 256;

/// Reads lines one by one into a buffer of its own.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: R,
    line: Vec<u8>,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            line: Vec::with_capacity(KEPT),
            number: 0,
        }
    }

    /// The number of the line that was read last, from one on.
    pub(super) const fn number(&self) -> u64 {
        self.number
    }

    /// The next line without its end, cut if it is long, and `None` at the end of the file.
    pub(super) fn next(&mut self) -> io::Result<Option<&[u8]>> {
        self.line.clear();
        let mut any = false;
        loop {
            let chunk = match self.input.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if chunk.is_empty() {
                break;
            }
            any = true;
            let end = chunk.iter().position(|&octet| octet == b'\n');
            let text = &chunk[..end.unwrap_or(chunk.len())];
            let room = KEPT - self.line.len();
            self.line.extend_from_slice(&text[..text.len().min(room)]);
            let used = text.len() + usize::from(end.is_some());
            self.input.consume(used);
            if end.is_some() {
                break;
            }
        }
        self.number += u64::from(any);
        let line = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
        Ok(any.then_some(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    #[test]
    fn lines_are_numbered_and_cut() {
        let text = format!("one\r\n\n  {}\nlast", "x".repeat(1_000));
        // A buffer of three octets: lines cross its border.
        let mut lines = Lines::new(BufReader::with_capacity(3, text.as_bytes()));
        assert_eq!(lines.next().unwrap(), Some(&b"one"[..]));
        assert_eq!(lines.next().unwrap(), Some(&b""[..]));
        assert_eq!(lines.next().unwrap().map(<[u8]>::len), Some(KEPT));
        assert_eq!(lines.next().unwrap(), Some(&b"last"[..]));
        assert_eq!(lines.number(), 4);
        assert_eq!(lines.next().unwrap(), None);
        assert_eq!(lines.number(), 4);
    }
}
