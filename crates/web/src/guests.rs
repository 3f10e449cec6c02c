//! A server for strangers: so many connections at once, so many from one address, and none for ever.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::TcpStream;
use units::source;

/// How often it is looked whether to stop.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// What strangers may take of a server.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at once.
    pub most: usize,
    /// Of these from one address, or one IPv6 /64.
    pub most_from_one: usize,
    /// How long a connection lasts at most.
    pub longest: Duration,
}

/// Told when somebody's test begins, with who it is and what; what it returns is dropped when the test is over.
pub type Visits = Arc<dyn Fn(SocketAddr, &'static str) -> Box<dyn Send + Sync> + Send + Sync>;

/// Visits that nobody hears of.
pub fn untold() -> Visits {
    Arc::new(|_, _| Box::new(()))
}

/// Takes connections of `listener` until `stop` is raised, and lets `converse` have each, with the guest's place, which is free again when
/// it is dropped. Those beyond the limits are closed.
///
/// # Errors
/// When the system has no event queue left.
pub fn serve<F>(
    listener: TcpListener,
    limits: Limits,
    stop: &AtomicBool,
    converse: impl Fn(TcpStream, Guest) -> F,
) -> io::Result<()>
where
    F: Future<Output = ()> + Send + 'static,
{
    runtime()?.block_on(async {
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let guests = Arc::new(Guests::default());
        while !stop.load(Ordering::Relaxed) {
            let Ok(accepted) = tokio::time::timeout(TICK, listener.accept()).await else {
                continue;
            };
            let Ok((stream, peer)) = accepted else {
                // No descriptors, or no memory: it may get better.
                tokio::time::sleep(TICK).await;
                continue;
            };
            let Some(guest) = guests.enter(peer.ip(), limits) else {
                continue;
            };
            let conversation = converse(stream, guest);
            tokio::spawn(async move {
                // Why a conversation came to nothing the client knows.
                let _ = tokio::time::timeout(limits.longest, conversation).await;
            });
        }
        Ok(())
    })
}

/// What a server for guests is done in: the calling thread.
///
/// # Errors
/// When the system has no event queue left.
pub(crate) fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
}

/// Who is there.
#[derive(Debug, Default)]
pub struct Guests(Mutex<Vec<IpAddr>>);

impl Guests {
    /// One more from `address`; none where there are too many.
    pub fn enter(self: &Arc<Self>, address: IpAddr, limits: Limits) -> Option<Guest> {
        let source = source(address);
        let mut all = self.lock();
        let from_there = all.iter().filter(|other| **other == source).count();
        (all.len() < limits.most && from_there < limits.most_from_one).then(|| {
            all.push(source);
            let guests = Arc::clone(self);
            Guest { guests, source }
        })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<IpAddr>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of a guest; free again when it is dropped.
#[derive(Debug)]
pub struct Guest {
    guests: Arc<Guests>,
    source: IpAddr,
}

impl Drop for Guest {
    fn drop(&mut self) {
        let mut all = self.guests.lock();
        if let Some(at) = all.iter().position(|other| *other == self.source) {
            all.swap_remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_some_and_again_when_one_leaves() {
        let limits = Limits {
            most: 3,
            most_from_one: 2,
            longest: Duration::MAX,
        };
        let guests = Arc::new(Guests::default());
        let enter = |last: u8| guests.enter([192, 0, 2, last].into(), limits);
        let one = enter(1);
        let two = enter(1);
        assert!(one.is_some() && two.is_some() && enter(1).is_none());
        let other = enter(2);
        assert!(other.is_some() && enter(3).is_none());
        drop(one);
        assert!(enter(3).is_some());
    }

    #[test]
    fn a_host_with_many_addresses_is_one_guest() {
        let limits = Limits {
            most: 9,
            most_from_one: 2,
            longest: Duration::MAX,
        };
        let guests = Arc::new(Guests::default());
        let enter = |address: &str| guests.enter(address.parse().unwrap(), limits);
        let one = enter("2001:db8::1");
        let two = enter("2001:db8::2:3");
        assert!(one.is_some() && two.is_some() && enter("2001:db8::4").is_none());
        assert!(enter("2001:db8:0:1::1").is_some());
        drop(two);
        assert!(enter("2001:db8::4").is_some());
    }
}
