//! Python's JSON as JSON.
//!
//! Python's `json` module writes `NaN`, `Infinity` and `-Infinity`, which no other reader takes (RFC 8259 section 6).
//! Outside strings these words can mean nothing else, so they are turned into `null` as the octets pass by: a value that
//! is no number is no value.

use std::io::{self, Read};

/// Octets that are read at once.
const CHUNK: usize = 8 << 10;
const WORDS: [&[u8]; 3] = [b"NaN", b"Infinity", b"-Infinity"];

/// Reads `inner` with these words replaced.
pub(crate) struct Strict<R> {
    inner: R,
    state: State,
    /// What is ready, from `taken` on.
    ready: Vec<u8>,
    taken: usize,
    ended: bool,
}

#[derive(Clone, Copy)]
enum State {
    Plain,
    InString,
    Escaped,
    /// So many octets of that word were seen and are held back.
    Word(&'static [u8], usize),
}

impl<R: Read> Strict<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self {
            inner,
            state: State::Plain,
            ready: Vec::new(),
            taken: 0,
            ended: false,
        }
    }

    /// Takes the next chunk in.
    fn fill(&mut self) -> io::Result<()> {
        let mut chunk = [0; CHUNK];
        let read = self.inner.read(&mut chunk)?;
        self.ready.clear();
        self.taken = 0;
        if read == 0 {
            self.ended = true;
            self.give_up();
        }
        for &octet in &chunk[..read] {
            self.take(octet);
        }
        Ok(())
    }

    fn take(&mut self, octet: u8) {
        if let State::Word(word, seen) = self.state {
            if word[seen] == octet {
                return self.matched(word, seen + 1);
            }
            self.give_up();
        }
        self.state = match (self.state, octet) {
            (State::Plain, b'"') | (State::Escaped, _) => State::InString,
            (State::InString, b'"') => State::Plain,
            (State::InString, b'\\') => State::Escaped,
            (State::Plain, _) => match WORDS.into_iter().find(|word| word[0] == octet) {
                Some(word) => return self.state = State::Word(word, 1),
                None => State::Plain,
            },
            (state, _) => state,
        };
        self.ready.push(octet);
    }

    fn matched(&mut self, word: &'static [u8], seen: usize) {
        self.state = State::Word(word, seen);
        if seen == word.len() {
            self.ready.extend_from_slice(b"null");
            self.state = State::Plain;
        }
    }

    /// It was no such word after all: what was held back goes as it came.
    fn give_up(&mut self) {
        if let State::Word(word, seen) = self.state {
            self.ready.extend_from_slice(&word[..seen]);
            self.state = State::Plain;
        }
    }
}

impl<R: Read> Read for Strict<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.ready.len() && !self.ended {
            self.fill()?;
        }
        let rest = &self.ready[self.taken..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.taken += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn strict(text: &str) -> String {
        let mut out = String::new();
        Strict::new(text.as_bytes())
            .read_to_string(&mut out)
            .unwrap();
        out
    }

    #[test]
    fn words_that_are_no_json_become_null() {
        assert_eq!(
            strict("[NaN,Infinity, -Infinity,-1]"),
            "[null,null, null,-1]"
        );
    }

    #[test]
    fn strings_are_left_alone() {
        let text = r#"{"NaN \" Infinity": "-Infinity\\", "x": [-1.5e-3]}"#;
        assert_eq!(strict(text), text);
    }

    #[test]
    fn halves_of_words_pass_as_they_came() {
        for text in ["Na", "NaNa", "-Inf", "InfinitX", "-", "--1", "N"] {
            let passed = strict(text);
            assert_eq!(passed.replace("null", "NaN"), text);
        }
    }

    proptest! {
        #[test]
        fn what_is_json_stays_the_same(values in proptest::collection::vec(any::<Option<f64>>(), 0..50), text in ".*") {
            let json = serde_json::to_string(&(values, text)).unwrap();
            prop_assert_eq!(strict(&json), json);
        }

        #[test]
        fn any_octets_pass_without_a_panic(octets in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut out = Vec::new();
            Strict::new(&octets[..]).read_to_end(&mut out).unwrap();
            prop_assert!(out.len() <= octets.len() * 2);
        }
    }
}
