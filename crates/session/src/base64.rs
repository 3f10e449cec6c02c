//! Octets as base64url text in JSON: `#[serde(with = "crate::base64")]`.

use data_encoding::BASE64URL_NOPAD;
use serde::{Deserialize, Deserializer, Serializer, de};

pub(crate) fn serialize<T: AsRef<[u8]>, S: Serializer>(
    octets: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&BASE64URL_NOPAD.encode(octets.as_ref()))
}

pub(crate) fn deserialize<'de, T: TryFrom<Vec<u8>>, D: Deserializer<'de>>(
    source: D,
) -> Result<T, D::Error> {
    let text = String::deserialize(source)?;
    BASE64URL_NOPAD
        .decode(text.as_bytes())
        .ok()
        .and_then(|octets| octets.try_into().ok())
        .ok_or_else(|| de::Error::custom("not base64url of the right length"))
}
