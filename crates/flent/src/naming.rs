//! What a series is, by the names that Flent's tests share.
//!
//! | name | is |
//! |---|---|
//! | `TCP upload`, `TCP download` and then nothing, a class, a number or `::3` | TCP load |
//! | `UDP upload ..`, `UDP download ..` | UDP load |
//! | `Ping (ms) UDP ..`, `Ping (ms) UDP6 ..` | UDP round trips |
//! | `Ping (ms) ICMP ..`, `Ping (ms) ..` | ICMP round trips |
//! | `.. avg`, `.. sum`, `TCP totals` | computed of other series |
//!
//! Flent writes best effort `BE` and background `BK`, and numbers like streams: `BE2`.

use serde_json::Value;
use units::Dscp;

/// Key in `SERIES_META` under which an exported series says what it is; Flent passes it over.
pub(crate) const OWN: &str = "ISOBATH";

/// What a series is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Role {
    /// As `streams.kind` of a record: `tcp_load`, `udp_load`, `udp_rr`, `tcp_rr`, `icmp_rr`, or `flent` for what is
    /// none of these.
    pub(crate) kind: &'static str,
    /// `up`, `down` or `both`.
    pub(crate) direction: &'static str,
    /// DSCP by name.
    pub(crate) class: String,
    /// Whether it is computed of other series.
    pub(crate) computed: bool,
    /// Whether its datagrams are capable of ECN, which is measured apart.
    pub(crate) marked: bool,
}

/// What the names of such series have in them.
pub(crate) const ECN: &str = " ECT(";

const KINDS: [&str; 9] = [
    "tcp_load", "udp_load", "udp_rr", "tcp_rr", "icmp_rr", "voip", "dns", "https", "web",
];
const PREFIXES: [(&str, &str, &str); 7] = [
    ("TCP upload", "tcp_load", "up"),
    ("TCP download", "tcp_load", "down"),
    ("UDP upload", "udp_load", "up"),
    ("UDP download", "udp_load", "down"),
    ("Ping (ms) UDP", "udp_rr", "both"),
    ("Ping (ms) TCP", "tcp_rr", "both"),
    ("Ping (ms)", "icmp_rr", "both"),
];

impl Role {
    /// What the series of that name is; `meta` is its entry in `SERIES_META`.
    pub(crate) fn of(name: &str, meta: Option<&Value>) -> Self {
        let own = meta.and_then(|meta| meta.get(OWN));
        let said = |key| own.and_then(|own| own.get(key)).and_then(Value::as_str);
        let prefix = PREFIXES.into_iter().find(|(prefix, ..)| {
            let rest = name.strip_prefix(prefix);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ':', '6']))
        });
        let (prefix, kind, direction) = prefix.unwrap_or(("", "flent", "both"));
        let named =
            |word: &str, words: &[&'static str]| words.iter().find(|w| **w == word).copied();
        Self {
            kind: said("kind")
                .and_then(|kind| named(kind, &KINDS))
                .unwrap_or(kind),
            direction: said("direction")
                .and_then(|direction| named(direction, &["up", "down", "both"]))
                .unwrap_or(direction),
            class: said("class")
                .filter(|class| class.parse::<Dscp>().is_ok())
                .map_or_else(|| class_in(&name[prefix.len()..], meta), str::to_owned),
            computed: is_computed(name, meta),
            marked: name.contains(ECN),
        }
    }

    pub(crate) fn is_load(&self) -> bool {
        self.kind.ends_with("_load") && !self.computed
    }

    pub(crate) fn is_round_trip(&self) -> bool {
        self.kind.ends_with("_rr") && !self.computed
    }
}

fn is_computed(name: &str, meta: Option<&Value>) -> bool {
    let words = [" avg", " sum", " totals"];
    let says = |key| meta.is_some_and(|meta| meta.get(key).is_some());
    says("COMPUTED_LATE") || words.into_iter().any(|word| name.ends_with(word))
}

/// The class that the last word of a name tells, or the one that the series was marked with; best effort when neither
/// does.
fn class_in(rest: &str, meta: Option<&Value>) -> String {
    let marked = meta
        .and_then(|meta| meta.get("DATA_TOS"))
        .and_then(Value::as_u64);
    let octet = marked.and_then(|tos| u8::try_from(tos).ok());
    rest.rsplit([' ', ':'])
        .find_map(class_of_word)
        .or_else(|| Dscp::new(octet? >> 2).map(|class| class.to_string()))
        .unwrap_or_else(|| "CS0".to_owned())
}

fn class_of_word(word: &str) -> Option<String> {
    let word = word.split('_').next()?;
    match word.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "BE" => return Some("CS0".to_owned()),
        "BK" => return Some("CS1".to_owned()),
        _ => {}
    }
    let is_name = word.starts_with(|c: char| c.is_ascii_uppercase());
    let class: Dscp = word.parse().ok().filter(|_| is_name)?;
    Some(class.to_string())
}

/// What Flent's tests call a class.
pub(crate) fn class_word(class: &str) -> &str {
    match class {
        "CS0" => "BE",
        "CS1" => "BK",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn role(name: &str) -> (&'static str, &'static str, String) {
        let role = Role::of(name, None);
        assert!(!role.computed, "{name}");
        (role.kind, role.direction, role.class)
    }

    #[test]
    fn names_tell_kind_direction_and_class() {
        for (name, kind, direction, class) in [
            ("TCP upload BE", "tcp_load", "up", "CS0"),
            ("TCP upload BK", "tcp_load", "up", "CS1"),
            ("TCP download EF", "tcp_load", "down", "EF"),
            ("TCP download BE4", "tcp_load", "down", "CS0"),
            ("TCP upload CS1_BK", "tcp_load", "up", "CS1"),
            ("TCP upload::12", "tcp_load", "up", "CS0"),
            ("TCP upload", "tcp_load", "up", "CS0"),
            ("UDP upload", "udp_load", "up", "CS0"),
            ("Ping (ms) UDP CS7", "udp_rr", "both", "CS7"),
            ("Ping (ms) UDP6 BK", "udp_rr", "both", "CS1"),
            ("Ping (ms) UDP", "udp_rr", "both", "CS0"),
            ("Ping (ms) ICMP", "icmp_rr", "both", "CS0"),
            ("VoIP::delay", "flent", "both", "CS0"),
            ("cpu", "flent", "both", "CS0"),
        ] {
            assert_eq!(role(name), (kind, direction, class.to_owned()), "{name}");
        }
    }

    #[test]
    fn computed_series_are_known_by_name_or_by_their_runner() {
        for name in ["TCP upload avg", "TCP totals", "Ping (ms) avg"] {
            assert!(Role::of(name, None).computed, "{name}");
        }
        let late = json!({"COMPUTED_LATE": false});
        assert!(Role::of("VoIP::induced_delay", Some(&late)).computed);
    }

    #[test]
    fn the_mark_tells_the_class_where_the_name_does_not() {
        let meta = json!({"DATA_TOS": 184});
        assert_eq!(Role::of("TCP upload::1", Some(&meta)).class, "EF");
    }

    #[test]
    fn an_exported_series_says_what_it_is() {
        let meta = json!({"ISOBATH": {"kind": "udp_rr", "class": "EF"}});
        let role = Role::of("Ping (ms) ICMP", Some(&meta));
        assert_eq!((role.kind, role.class.as_str()), ("udp_rr", "EF"));
    }
}
