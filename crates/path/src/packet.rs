//! The packet as a path sees it.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use units::{Dscp, Ecn, FlowId, Instant};

/// A packet: what a path needs to know of it, and a body that the path only carries.
///
/// `B` is the world's own: a byte buffer in the lab, a segment value in sim. It is `Clone` only
/// where an element duplicates packets.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Packet<B> {
    /// Octets that the packet takes on the link.
    pub size: u32,
    /// The conversation it belongs to.
    pub flow: FlowId,
    /// Its version of IP.
    pub family: Family,
    /// The differentiated-services code point; [`Remark`](crate::Remark) changes it.
    pub dscp: Dscp,
    /// The ECN field; a queue that marks sets it to [`Ecn::Ce`], and [`Remark`](crate::Remark) may
    /// clear it.
    pub ecn: Ecn,
    /// Logical time: when the packet entered the path, or left the element that it last passed.
    pub at: Instant,
    /// What the packet carries.
    pub body: B,
}

/// A version of IP; 4 or 6 in text.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(try_from = "u8", into = "u8")]
pub enum Family {
    /// IPv4 (RFC 791).
    #[default]
    V4,
    /// IPv6 (RFC 8200).
    V6,
}

impl TryFrom<u8> for Family {
    type Error = crate::Error;

    fn try_from(version: u8) -> Result<Self, Self::Error> {
        match version {
            4 => Ok(Self::V4),
            6 => Ok(Self::V6),
            other => Err(crate::Error::Family(other)),
        }
    }
}

impl From<Family> for u8 {
    fn from(family: Family) -> Self {
        match family {
            Family::V4 => 4,
            Family::V6 => 6,
        }
    }
}

impl fmt::Display for Family {
    /// `IPv4`, `IPv6`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IPv{}", u8::from(*self))
    }
}

impl JsonSchema for Family {
    fn schema_name() -> Cow<'static, str> {
        "Family".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "enum": [4, 6] })
    }
}
