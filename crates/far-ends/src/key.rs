//! Keys that both ends of a protocol share, as they are written.

use data_encoding::HEXLOWER_PERMISSIVE;

/// Before a key that is written in hexadecimal digits.
const HEX: &str = "hex:";

/// The octets of a key: those of a text, or what hexadecimal digits behind `hex:` say.
pub(crate) fn octets(text: &str) -> Result<Vec<u8>, &'static str> {
    let octets = match text.strip_prefix(HEX) {
        Some(digits) => HEXLOWER_PERMISSIVE
            .decode(digits.as_bytes())
            .map_err(|_| "after 'hex:' write pairs of hexadecimal digits")?,
        None => text.as_bytes().to_vec(),
    };
    if octets.is_empty() {
        return Err("a key has at least one octet");
    }
    Ok(octets)
}
