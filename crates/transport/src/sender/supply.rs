//! What the application has given and the network has not seen yet.

use std::collections::VecDeque;

/// Segments to send, as runs of equal length.
#[derive(Debug, Default)]
pub(super) struct Supply(VecDeque<(u64, u16)>);

impl Supply {
    pub(super) fn add(&mut self, count: u32, len: u16) {
        if count == 0 {
            return;
        }
        match self.0.back_mut() {
            Some(run) if run.1 == len => run.0 = run.0.saturating_add(u64::from(count)),
            _ => self.0.push_back((u64::from(count), len)),
        }
    }

    /// Takes the length of the next segment.
    pub(super) fn take(&mut self) -> Option<u16> {
        let run = self.0.front_mut()?;
        let len = run.1;
        run.0 -= 1;
        if run.0 == 0 {
            self.0.pop_front();
        }
        Some(len)
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
