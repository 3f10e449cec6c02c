//! Which DSCP becomes which.

use crate::Error;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use units::Dscp;

/// The key of all DSCPs that have no entry of their own.
const OTHERS: &str = "*";

/// A table of DSCPs: `{ EF = "CS0", AF41 = "AF11", "*" = "CS1" }`. What has no entry, where there
/// is no star, stays as it is.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(try_from = "BTreeMap<String, Dscp>", into = "BTreeMap<String, Dscp>")]
pub struct DscpTable {
    named: BTreeMap<Dscp, Dscp>,
    others: Option<Dscp>,
}

impl DscpTable {
    /// Whether the table changes nothing.
    pub fn is_empty(&self) -> bool {
        self.named.is_empty() && self.others.is_none()
    }

    /// What `dscp` becomes.
    pub fn of(&self, dscp: Dscp) -> Dscp {
        let named = self.named.get(&dscp).copied();
        named.or(self.others).unwrap_or(dscp)
    }

    /// What each of the 64 becomes.
    pub(super) fn all(&self) -> [Dscp; 64] {
        let mut all = [Dscp::CS0; 64];
        for (to, from) in all.iter_mut().zip(0..) {
            *to = self.of(Dscp::new(from).unwrap_or_default());
        }
        all
    }
}

impl TryFrom<BTreeMap<String, Dscp>> for DscpTable {
    type Error = Error;

    fn try_from(text: BTreeMap<String, Dscp>) -> Result<Self, Error> {
        let mut table = Self::default();
        for (from, to) in text {
            if from == OTHERS {
                table.others = Some(to);
                continue;
            }
            let from = from.parse()?;
            if table.named.insert(from, to).is_some() {
                return Err(Error::DscpTwice(from));
            }
        }
        Ok(table)
    }
}

impl From<DscpTable> for BTreeMap<String, Dscp> {
    fn from(table: DscpTable) -> Self {
        let named = table.named.into_iter();
        let named = named.map(|(from, to)| (from.to_string(), to));
        let others = table.others.map(|to| (OTHERS.to_owned(), to));
        named.chain(others).collect()
    }
}

impl fmt::Display for DscpTable {
    /// `EF to CS0, others to CS1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = self
            .named
            .iter()
            .map(|(from, to)| format!("{from} to {to}"));
        let rest = if self.named.is_empty() {
            "all"
        } else {
            "others"
        };
        let others = self.others.map(|to| format!("{rest} to {to}"));
        f.write_str(&named.chain(others).collect::<Vec<_>>().join(", "))
    }
}

impl JsonSchema for DscpTable {
    fn schema_name() -> Cow<'static, str> {
        "DscpTable".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "From DSCP (or * for all without an entry of their own) to DSCP.",
            "type": "object",
            "additionalProperties": generator.subschema_for::<Dscp>(),
        })
    }
}
