//! How many connections may be pending: not yet known to be anything of ours.

use crate::address::source;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Counts pending connections, all told and by source. Clones share the count.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    most: usize,
    most_per_source: usize,
    /// Sources with at least one pending connection.
    pending: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

/// One pending connection; no longer pending when dropped.
#[derive(Debug)]
pub(crate) struct Pending {
    gate: Gate,
    source: IpAddr,
}

impl Gate {
    pub(crate) fn new(most: usize, most_per_source: usize) -> Self {
        Self {
            most,
            most_per_source,
            pending: Arc::default(),
        }
    }

    /// Lets a connection from `peer` in, unless there are too many.
    pub(crate) fn enter(&self, peer: &SocketAddr) -> Option<Pending> {
        let source = source(peer);
        let mut pending = self.counts();
        let all: usize = pending.values().sum();
        let from_there = pending.get(&source).copied().unwrap_or(0);
        if all >= self.most || from_there >= self.most_per_source {
            return None;
        }
        pending.insert(source, from_there + 1);
        Some(Pending {
            gate: self.clone(),
            source,
        })
    }

    /// How many are pending now.
    pub(crate) fn pending(&self) -> usize {
        self.counts().values().sum()
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        let mut pending = self.gate.counts();
        match pending.get_mut(&self.source) {
            Some(count) if *count > 1 => *count -= 1,
            _ => {
                pending.remove(&self.source);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_bounds_hold_and_places_come_back() {
        let gate = Gate::new(3, 2);
        let (one, other): (SocketAddr, SocketAddr) = (
            "192.0.2.1:1".parse().unwrap(),
            "192.0.2.2:1".parse().unwrap(),
        );
        let first = gate.enter(&one).unwrap();
        let _second = gate.enter(&one).unwrap();
        assert!(gate.enter(&one).is_none(), "two from one source");
        let third = gate.enter(&other).unwrap();
        assert!(gate.enter(&other).is_none(), "three all told");
        drop(first);
        assert!(gate.enter(&one).is_some());
        drop(third);
        assert_eq!(gate.pending(), 1);
        assert_eq!(
            gate.counts().len(),
            1,
            "a source without connections is forgotten"
        );
    }
}
