//! The octets of a control connection: states, and JSON behind its length.

use super::{COOKIE, State};
use serde_json::Value;

/// What has come and was not yet understood.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    octets: Vec<u8>,
}

impl Inbox {
    pub(super) fn push(&mut self, octets: &[u8]) {
        self.octets.extend_from_slice(octets);
    }

    /// The first `N` octets, when all of them are there.
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let taken = *self.octets.first_chunk::<N>()?;
        self.octets.drain(..N);
        Some(taken)
    }

    pub(super) fn cookie(&mut self) -> Option<[u8; COOKIE]> {
        self.take()
    }

    /// The next state.
    ///
    /// # Errors
    /// When it is none.
    pub(super) fn state(&mut self) -> Result<Option<State>, String> {
        let Some([octet]) = self.take() else {
            return Ok(None);
        };
        State::of(octet)
            .map(Some)
            .ok_or_else(|| format!("{octet} is no state of iperf3"))
    }

    pub(super) fn number(&mut self) -> Option<u32> {
        self.take().map(u32::from_be_bytes)
    }

    /// The next JSON object, of at most so many octets.
    ///
    /// # Errors
    /// When it is longer, or no JSON.
    pub(super) fn json(&mut self, most: usize) -> Result<Option<Value>, String> {
        let Some((length, text)) = self.octets.split_first_chunk() else {
            return Ok(None);
        };
        let length = u32::from_be_bytes(*length) as usize;
        if length > most {
            return Err(format!("an object of {length} octets is too long"));
        }
        let Some(text) = text.get(..length) else {
            return Ok(None);
        };
        let value = serde_json::from_slice(text).map_err(|error| format!("no JSON: {error}"))?;
        self.octets.drain(..4 + length);
        Ok(Some(value))
    }

    pub(super) const fn len(&self) -> usize {
        self.octets.len()
    }
}

/// Appends `value` behind its length.
pub(super) fn write(value: &Value, out: &mut Vec<u8>) {
    let text = value.to_string();
    // What is written here has a few kilobytes.
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    out.extend(length.to_be_bytes());
    out.extend(text.as_bytes());
}

/// A number of `object`, or zero. Large ones may be written with an exponent.
pub(super) fn number(object: &Value, key: &str) -> u64 {
    let value = &object[key];
    let rounded = || value.as_f64().map(whole);
    value.as_u64().or_else(rounded).unwrap_or(0)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "what is negative is zero, what is too large the largest"
)]
const fn whole(value: f64) -> u64 {
    value as u64
}

/// Whether `key` is true, or a number that is not zero.
pub(super) fn is_set(object: &Value, key: &str) -> bool {
    object[key]
        .as_bool()
        .unwrap_or_else(|| number(object, key) > 0)
}
