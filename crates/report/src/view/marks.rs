//! What became of the DSCP and ECN fields: sent against arrived, by direction, over all datagrams of `samples`.

use schema::tables::Sample;
use serde::Serialize;
use std::collections::BTreeMap;

/// How many datagrams that were sent with one mark arrived with another.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Mark {
    direction: &'static str,
    sent_dscp: String,
    seen_dscp: String,
    sent_ecn: &'static str,
    seen_ecn: &'static str,
    packets: u64,
}

#[derive(Default)]
pub(crate) struct Marks(BTreeMap<(&'static str, u8, u8), u64>);

impl Marks {
    pub(crate) fn see(&mut self, row: &Sample) {
        for (direction, seen) in [("up", row.tos_seen_far), ("down", row.tos_seen_near)] {
            if let Some(seen) = seen {
                *self.0.entry((direction, row.tos_sent, seen)).or_insert(0) += 1;
            }
        }
    }

    pub(crate) fn all(self) -> Vec<Mark> {
        let mark = |((direction, sent, seen), packets)| Mark {
            direction,
            sent_dscp: dscp(sent),
            seen_dscp: dscp(seen),
            sent_ecn: ecn(sent),
            seen_ecn: ecn(seen),
            packets,
        };
        self.0.into_iter().map(mark).collect()
    }
}

/// The DSCP of a traffic-class octet by its name of RFC 4594, else its number.
pub(crate) fn dscp(tos: u8) -> String {
    match tos >> 2 {
        0 => "CS0".to_owned(),
        1 => "LE".to_owned(),
        44 => "VA".to_owned(),
        46 => "EF".to_owned(),
        cs if cs % 8 == 0 => format!("CS{}", cs / 8),
        af if (8..40).contains(&af) && af % 2 == 0 => format!("AF{}{}", af / 8, (af % 8) / 2),
        other => other.to_string(),
    }
}

/// The ECN field of a traffic-class octet (RFC 3168 section 5).
fn ecn(tos: u8) -> &'static str {
    match tos & 3 {
        0 => "Not-ECT",
        1 => "ECT(1)",
        2 => "ECT(0)",
        _ => "CE",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_points_have_their_names() {
        let names: Vec<String> = [0, 8, 34, 40, 46, 10, 63, 1, 44]
            .map(|d: u8| dscp(d << 2))
            .into();
        assert_eq!(
            names,
            ["CS0", "CS1", "AF41", "CS5", "EF", "AF11", "63", "LE", "VA"]
        );
        assert_eq!([0, 1, 2, 3].map(ecn), ["Not-ECT", "ECT(1)", "ECT(0)", "CE"]);
    }

    #[test]
    fn each_direction_counts_what_is_known() {
        let mut marks = Marks::default();
        let row = Sample {
            tos_sent: 0xb8,
            tos_seen_far: Some(0),
            ..Sample::default()
        };
        marks.see(&row);
        marks.see(&Sample {
            tos_seen_near: Some(0xbb),
            ..row
        });
        let found: Vec<_> = marks
            .all()
            .into_iter()
            .map(|m| (m.direction, m.seen_dscp, m.seen_ecn, m.packets))
            .collect();
        assert_eq!(
            found,
            [
                ("down", "EF".to_owned(), "CE", 1),
                ("up", "CS0".to_owned(), "Not-ECT", 2),
            ]
        );
    }
}
