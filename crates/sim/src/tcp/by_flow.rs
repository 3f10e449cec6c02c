//! Which of a host's connections a packet is of.
//!
//! Flows are numbered in the order in which their connections begin, so those that are alive lie near each other: a table by number, of
//! which only the pages exist on which there is somebody, costs a packet one look at memory, where a hash table costs two.

use units::FlowId;

/// Connections of a page.
const PAGE: usize = 512;
/// No connection.
const NONE: u32 = u32::MAX;

/// Keys of connections by their numbers; the two directions of a connection have the same.
#[derive(Debug, Default)]
pub(super) struct ByFlow {
    pages: Vec<Option<Box<Page>>>,
}

#[derive(Debug)]
struct Page {
    keys: [u32; PAGE],
    used: usize,
}

/// The page of a flow, and the place there.
#[inline]
fn place(FlowId(flow): FlowId) -> Option<(usize, usize)> {
    let connection = usize::try_from(flow / 2).ok()?;
    Some((connection / PAGE, connection % PAGE))
}

impl ByFlow {
    /// The key of the connection of which `flow` is a direction.
    #[inline]
    pub(super) fn get(&self, flow: FlowId) -> Option<u32> {
        let (page, at) = place(flow)?;
        let key = self.pages.get(page)?.as_ref()?.keys[at];
        (key != NONE).then_some(key)
    }

    pub(super) fn insert(&mut self, flow: FlowId, key: u32) {
        let Some((page, at)) = place(flow) else {
            return;
        };
        if self.pages.len() <= page {
            self.pages.resize_with(page + 1, || None);
        }
        let page = self.pages[page].get_or_insert_with(|| {
            Box::new(Page {
                keys: [NONE; PAGE],
                used: 0,
            })
        });
        let before = std::mem::replace(&mut page.keys[at], key);
        page.used += usize::from(before == NONE);
    }

    pub(super) fn remove(&mut self, flow: FlowId) {
        let Some((number, at)) = place(flow) else {
            return;
        };
        let Some(Some(page)) = self.pages.get_mut(number) else {
            return;
        };
        let before = std::mem::replace(&mut page.keys[at], NONE);
        page.used -= usize::from(before != NONE);
        if page.used == 0 {
            self.pages[number] = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        /// Beside a hash table; pages without connections are gone.
        #[test]
        fn each_connection_is_found_until_it_is_removed(
            steps in prop::collection::vec((0_u64..3_000, prop::option::of(0_u32..100)), 0..300),
        ) {
            let (mut table, mut plain) = (ByFlow::default(), HashMap::new());
            for (flow, key) in steps {
                if let Some(key) = key {
                    table.insert(FlowId(flow), key);
                    plain.insert(flow / 2, key);
                } else {
                    table.remove(FlowId(flow));
                    plain.remove(&(flow / 2));
                }
                for flow in [flow, flow ^ 1, flow + 2] {
                    prop_assert_eq!(table.get(FlowId(flow)), plain.get(&(flow / 2)).copied());
                }
                let pages = table.pages.iter().flatten();
                prop_assert!(pages.clone().all(|page| page.used > 0));
                prop_assert_eq!(pages.map(|page| page.used).sum::<usize>(), plain.len());
            }
            prop_assert_eq!(table.get(FlowId(u64::MAX)), None);
        }
    }
}
