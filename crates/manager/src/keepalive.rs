//! What the ends of a session say by the way that packets take: that they are there, and that words as long as this one pass.
//!
//! A word is a datagram of the control session that wants no reply, of a stream of its own; a server's responder leaves it alone. Its
//! number is how many octets it has as the sender's IP packet, which a translator between the versions of IP may change; 0 of one that does
//! not ask. Others are answered over the control connection by that number ([`mgrp::path_mtu`]).

use kit::hello;
use session::TagKey;
use session::wire::{Kind, MAGIC, Probe};
use std::time::Duration;
use sys::udp::UdpSocket;
use units::Instant;

/// The stream of these words.
const STREAM: u16 = 1;
/// Words may overtake each other by less than this; one that is older was kept by somebody and sent again.
const LATE: Duration = Duration::from_secs(2);

/// Says over a socket that is connected that this end is there. A word that cannot be sent is one that did not arrive: others follow.
pub(crate) fn say(socket: &UdpSocket, session: u64, key: &TagKey) {
    ask(socket, session, key, (0, 0));
}

/// Says it by an IP packet of so many octets, `headers` of which are in front of the word.
pub(crate) fn ask(socket: &UdpSocket, session: u64, key: &TagKey, (octets, headers): (u16, usize)) {
    let word = hello::empty(Kind::OneWay, session, STREAM, octets.into());
    hello::send(
        socket,
        &word,
        key,
        usize::from(octets).saturating_sub(headers),
    );
}

/// What a word says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Word {
    /// When it was said, on the clock of the peer's host.
    sent: Instant,
    /// Octets of the IP packet that it was; 0 if it does not ask.
    pub octets: u16,
}

/// What these octets say, if they are a word of the session's other end, which has this key.
pub(crate) fn read(octets: &[u8], session: u64, key: &TagKey) -> Option<Word> {
    let word = octets.starts_with(&MAGIC).then(|| Probe::parse(octets));
    let word = word?.ok()?;
    let is_word = word.kind == Kind::OneWay && (word.session, word.stream) == (session, STREAM);
    (is_word && Probe::verify(octets, key).is_ok()).then(|| Word {
        sent: word.sent,
        octets: u16::try_from(word.sequence).unwrap_or(0),
    })
}

/// The newest word of a peer, by which old ones are known.
#[derive(Debug, Default)]
pub(crate) struct Newest(Option<Instant>);

impl Newest {
    /// Whether a word is said now, and not again.
    pub(crate) fn admits(&mut self, word: Word) -> bool {
        let is_fresh = self.0.is_none_or(|newest| word.sent + LATE > newest);
        self.0 = self.0.max(Some(word.sent));
        is_fresh
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use session::{DataKey, DataKeys};

    fn datagram(kind: Kind, stream: u16, sequence: u32) -> Vec<u8> {
        let mut octets = vec![0; Probe::LEN + 7];
        let word = hello::empty(kind, 9, stream, sequence);
        word.emit(&mut octets, &keys().to_server).unwrap();
        octets
    }

    fn keys() -> DataKeys {
        DataKeys::from(DataKey::new([7; 32]))
    }

    #[test]
    fn nothing_but_a_word_is_one() {
        let key = keys().to_server;
        let word = datagram(Kind::OneWay, STREAM, 1_400);
        assert_eq!(read(&word, 9, &key).unwrap().octets, 1_400);
        assert_eq!(read(&word, 8, &key), None, "of another session");
        assert_eq!(read(&word, 9, &keys().to_client), None, "thrown back");
        // What the other end has sent by another way for other ends.
        assert_eq!(read(&datagram(Kind::Request, STREAM, 0), 9, &key), None);
        assert_eq!(read(&datagram(Kind::OneWay, 0, 0), 9, &key), None);
        let mut forged = word;
        forged[Probe::LEN] ^= 1;
        assert_eq!(read(&forged, 9, &key), None);
        assert_eq!(read(&[], 9, &key), None);
    }

    #[test]
    fn a_word_that_was_kept_is_not_heard_again() {
        let at = |s: u64| Word {
            sent: Instant::from_nanos(s * 1_000_000_000),
            octets: 0,
        };
        let mut newest = Newest::default();
        assert!(
            [at(100), at(110), at(109)]
                .into_iter()
                .all(|word| newest.admits(word))
        );
        assert!(!newest.admits(at(100)) && newest.admits(at(120)));
    }
}
