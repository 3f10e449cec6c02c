//! Authentication of the control PDUs (RFC 9946 section 4.4): an HMAC by keys that both ends derive from one they share.

use ring::hmac::{self, HMAC_SHA256, Key};

/// The mode in which setup, null and activation are authenticated; mode 0 has nothing.
pub const MODE: u8 = 1;
/// How far both ends' clocks may be apart, s.
pub(super) const WINDOW_S: u64 = 5;
/// Bits of both keys of a test.
const BITS: u32 = 512;
/// The label from which keys are derived.
const LABEL: &[u8] = b"UDPSTP";
/// Where the authentication of a PDU begins, from its end: mode (1), time (4), digest (32), key's number (1), reserved (1), checksum (2).
const FROM_END: usize = 41;
pub(super) const DIGEST: usize = 32;

/// The two keys of a test.
#[derive(Clone, Debug)]
pub struct Keys {
    /// Signs what the client sends.
    pub client: Key,
    /// Signs what the server sends.
    pub server: Key,
}

impl Keys {
    /// Those that follow from `shared` and the time of the setup request, s since 1970: NIST SP 800-108's KDF in counter mode with
    /// HMAC-SHA-256, label `UDPSTP`, and the time in decimal digits as context.
    pub fn derive(shared: &[u8], time_s: u32) -> Self {
        let prf = Key::new(HMAC_SHA256, shared);
        let block = |counter: u32| {
            let mut context = hmac::Context::with_key(&prf);
            context.update(&counter.to_be_bytes());
            context.update(LABEL);
            context.update(&[0]);
            context.update(time_s.to_string().as_bytes());
            context.update(&BITS.to_be_bytes());
            Key::new(HMAC_SHA256, context.sign().as_ref())
        };
        Self {
            client: block(1),
            server: block(2),
        }
    }
}

/// What a PDU says of its authentication.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Claim {
    /// 0 for none.
    pub mode: u8,
    /// When it was signed, s since 1970.
    pub time_s: u32,
    /// Which shared key it was.
    pub key_id: u8,
}

/// Why a PDU is not who it says it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Invalid {
    /// It has no signature.
    Missing,
    /// It is signed with another key, or was changed.
    Digest,
    /// It was signed too long ago, or will be.
    Time,
}

/// What `pdu`, a whole control PDU, says.
pub fn claim(pdu: &[u8]) -> Option<Claim> {
    let [mode, rest @ ..] = pdu.get(pdu.len().checked_sub(FROM_END)?..)? else {
        return None;
    };
    Some(Claim {
        mode: *mode,
        time_s: u32::from_be_bytes(crate::field(rest, 0)?),
        key_id: *rest.get(4 + DIGEST)?,
    })
}

/// The signature of `pdu`, a whole control PDU.
pub(super) fn digest(pdu: &[u8]) -> Option<[u8; DIGEST]> {
    crate::field(pdu, pdu.len().checked_sub(FROM_END)? + 5)
}

/// Signs `pdu`, a whole control PDU, at `now_s` (s since 1970) with `key`, which follows from the shared key of this number.
pub fn sign(pdu: &mut [u8], key: &Key, key_id: u8, now_s: u32) {
    let Some(at) = pdu.len().checked_sub(FROM_END) else {
        return;
    };
    let tail = &mut pdu[at..];
    tail.fill(0);
    tail[0] = MODE;
    tail[1..5].copy_from_slice(&now_s.to_be_bytes());
    tail[5 + DIGEST] = key_id;
    let digest = hmac::sign(key, pdu);
    pdu[at + 5..at + 5 + DIGEST].copy_from_slice(digest.as_ref());
}

/// Checks that `pdu` was signed with `key` not long before or after `now_s`.
///
/// # Errors
/// When it was not.
pub fn check(pdu: &[u8], key: &Key, now_s: u64) -> Result<(), Invalid> {
    let claim = claim(pdu).filter(|claim| claim.mode == MODE);
    let claim = claim.ok_or(Invalid::Missing)?;
    let at = pdu.len() - FROM_END + 5;
    let mut signed = pdu.to_vec();
    let digest = digest(pdu).ok_or(Invalid::Missing)?;
    signed[at..at + DIGEST].fill(0);
    let checksum = signed.len() - 2;
    signed[checksum..].fill(0);
    hmac::verify(key, &signed, &digest).map_err(|_| Invalid::Digest)?;
    if u64::from(claim.time_s).abs_diff(now_s) > WINDOW_S {
        return Err(Invalid::Time);
    }
    Ok(())
}
