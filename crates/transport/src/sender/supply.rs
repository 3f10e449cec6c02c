//! What the application has given and the network has not seen yet.

use std::collections::VecDeque;

/// Segments of equal length.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    count: u64,
    len: u16,
}

/// Segments to send, as runs of equal length.
#[derive(Debug, Default)]
#[expect(
    clippy::box_collection,
    reason = "where there is none it takes a quarter of the memory"
)]
pub(super) struct Supply {
    /// None when its count is zero; then there are no others.
    first: Run,
    /// Where lengths differ.
    rest: Option<Box<VecDeque<Run>>>,
}

impl Supply {
    pub(super) fn add(&mut self, count: u32, len: u16) {
        let count = u64::from(count);
        if count == 0 {
            return;
        }
        if self.first.count == 0 {
            self.first = Run { count, len };
            return;
        }
        let last = self.rest.as_mut().and_then(|rest| rest.back_mut());
        let last = last.unwrap_or(&mut self.first);
        if last.len == len {
            last.count = last.count.saturating_add(count);
        } else {
            self.rest
                .get_or_insert_default()
                .push_back(Run { count, len });
        }
    }

    /// Takes the length of the next segment.
    pub(super) fn take(&mut self) -> Option<u16> {
        if self.first.count == 0 {
            return None;
        }
        let len = self.first.len;
        self.first.count -= 1;
        if self.first.count == 0
            && let Some(next) = self.rest.as_mut().and_then(|rest| rest.pop_front())
        {
            self.first = next;
        }
        Some(len)
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.first.count == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Beside a list of every segment.
        #[test]
        fn segments_leave_in_the_order_in_which_they_came(
            steps in prop::collection::vec(prop::option::of((0_u32..4, 1_u16..4)), 0..200),
        ) {
            let (mut supply, mut plain) = (Supply::default(), VecDeque::new());
            for step in steps {
                if let Some((count, len)) = step {
                    supply.add(count, len);
                    plain.extend((0..count).map(|_| len));
                } else {
                    prop_assert_eq!(supply.take(), plain.pop_front());
                }
                prop_assert_eq!(supply.is_empty(), plain.is_empty());
            }
        }
    }
}
