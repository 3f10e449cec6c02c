//! The sessions of a server, and what arrives for each.

use crate::Error;
use crate::hello::{Code, Refusal};
use crate::limits::{Admission, Limits};
use crate::overlay::OverlayKeys;
use crate::random::random;
use crate::tag::{DataKey, DataKeys};
use crate::window::Window;
use crate::wire::Preamble;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::Duration;
use sys::udp::Meter;
use units::{Instant, source};

/// Connections for web pages that one session may have open: what one browser opens at most.
const MAX_WEB: usize = 256;

/// A client's session: from its welcome until its control connection ends, or its time is up.
#[derive(Debug)]
pub struct Session {
    /// Its name on the data plane.
    pub id: u64,
    /// Where its control connection comes from.
    pub peer: SocketAddr,
    /// Which secret its client knows, by its place in [`ServerConfig::secrets`](crate::ServerConfig::secrets); none where it was
    /// let in without.
    pub proven: Option<usize>,
    /// What it may do.
    pub limits: Limits,
    /// What its data plane is tagged with.
    pub keys: DataKeys,
    /// What an overlay's packets are tagged with, if the session carries one.
    pub overlay_keys: OverlayKeys,
    /// What whoever owns the UDP socket has seen of it.
    pub counters: Counters,
    /// The octets that it has carried, as far as those who serve it say.
    pub meter: Arc<Meter>,
    /// When it began.
    pub began: Instant,
    /// When it will be closed.
    pub ends: Instant,
    failed: OnceLock<String>,
    control: Arc<TcpStream>,
    closed: AtomicBool,
    open_streams: Arc<AtomicUsize>,
    open_web: Arc<AtomicUsize>,
    inbox: Mutex<Inbox>,
    arrived: Condvar,
}

/// The datagrams of a session, counted by the owner of the UDP socket.
#[derive(Debug, Default)]
pub struct Counters {
    /// Datagrams with a right tag.
    pub received: AtomicU64,
    /// Replies sent.
    pub replied: AtomicU64,
    /// Datagrams with a wrong tag, or above the limit.
    pub refused: AtomicU64,
}

/// A TCP connection that showed a valid preamble. The socket blocks and has no time-outs.
#[derive(Debug)]
pub struct DataStream {
    /// What it said of itself.
    pub preamble: Preamble,
    /// The connection, read up to the end of the preamble.
    pub socket: TcpStream,
    /// When its preamble had been checked.
    pub accepted: Instant,
    /// Its place among the streams that the session may have open; keep it as long as the socket.
    pub slot: Slot,
}

/// One of the data streams, or of the connections for web pages, that a session may have open; free again when dropped.
#[derive(Debug)]
pub struct Slot {
    taken: Arc<AtomicUsize>,
    meter: Arc<Meter>,
}

impl Slot {
    /// Counts what the connection has carried: to be called once, when it is over.
    pub fn count(&self, socket: &impl sys::AsHandle) {
        if let Ok(info) = sys::tcp::info(socket) {
            let octets = |count: Option<u64>| count.unwrap_or_default();
            self.add(octets(info.bytes_received), octets(info.bytes_acked));
        }
    }

    /// Counts octets that the connection has carried.
    pub fn add(&self, received: u64, sent: u64) {
        self.meter.add(received, sent);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.taken.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Debug)]
struct Inbox {
    nonces: Window,
    streams: VecDeque<DataStream>,
}

/// A client that may have a session.
#[derive(Debug)]
pub(crate) struct Guest {
    pub(crate) id: u64,
    pub(crate) peer: SocketAddr,
    pub(crate) key: DataKey,
    pub(crate) proven: Option<usize>,
    pub(crate) control: Arc<TcpStream>,
}

impl Guest {
    /// A client with a new name and a new key.
    pub(crate) fn new(peer: SocketAddr, control: Arc<TcpStream>) -> Result<Self, Error> {
        Ok(Self {
            id: u64::from_be_bytes(random()?),
            peer,
            key: DataKey::new(random()?),
            proven: None,
            control,
        })
    }
}

impl Session {
    fn new(guest: Guest, limits: Limits) -> Self {
        let began = sys::clock::now();
        Self {
            id: guest.id,
            peer: guest.peer,
            proven: guest.proven,
            limits,
            keys: guest.key.into(),
            overlay_keys: guest.key.into(),
            counters: Counters::default(),
            meter: Arc::default(),
            began,
            ends: began + Duration::from_secs(limits.duration_s),
            failed: OnceLock::new(),
            control: guest.control,
            closed: AtomicBool::new(false),
            open_streams: Arc::default(),
            open_web: Arc::default(),
            inbox: Mutex::new(Inbox {
                nonces: Window::new(),
                streams: VecDeque::new(),
            }),
            arrived: Condvar::new(),
        }
    }

    /// The next data stream, waiting for it at most `timeout`; `None` when none came, or the session
    /// has ended.
    pub fn next_stream(&self, timeout: Duration) -> Option<DataStream> {
        let waiting = |inbox: &mut Inbox| inbox.streams.is_empty() && !self.is_closed();
        let (mut inbox, _) = self
            .arrived
            .wait_timeout_while(self.inbox(), timeout, waiting)
            .unwrap_or_else(PoisonError::into_inner);
        inbox.streams.pop_front()
    }

    /// Whether the session has ended: its client left, its time is up, or the server stops.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// Ends the session because this host cannot serve it, for this reason.
    pub fn fail(&self, reason: String) {
        // The first one is why it ended.
        let _ = self.failed.set(reason);
        self.close();
    }

    /// Why this host could not serve it.
    pub fn failure(&self) -> Option<&str> {
        self.failed.get().map(String::as_str)
    }

    /// Ends the session: the control connection is cut and nothing more is accepted for it.
    pub fn close(&self) {
        let mut inbox = self.inbox();
        self.closed.store(true, Ordering::Relaxed);
        inbox.streams.clear();
        self.arrived.notify_all();
        // Cut already, perhaps.
        let _ = self.control.shutdown(Shutdown::Both);
    }

    /// What a data stream that did not come by TCP says of itself, and its place among those that the session may have open; `None` when
    /// the preamble is not one of this session's, has been used before, or there is no place.
    pub fn admit(&self, preamble: &[u8; Preamble::LEN]) -> Option<(Preamble, Slot)> {
        let said = Preamble::parse(preamble).ok()?;
        Preamble::verify(preamble, &self.keys.to_server).ok()?;
        let mut inbox = self.inbox();
        let is_new = said.session == self.id && !self.is_closed() && inbox.nonces.admit(said.nonce);
        is_new.then(|| Some((said, self.slot()?)))?
    }

    /// Takes a stream whose tag is right; drops it (and so closes it) when its nonce has been used
    /// or there is no place.
    pub(crate) fn offer(&self, preamble: Preamble, socket: TcpStream, now: Instant) {
        let mut inbox = self.inbox();
        if self.is_closed() || !inbox.nonces.admit(preamble.nonce) {
            return;
        }
        let Some(slot) = self.slot() else { return };
        inbox.streams.push_back(DataStream {
            preamble,
            socket,
            accepted: now,
            slot,
        });
        self.arrived.notify_one();
    }

    /// A place for one more stream. Places are only taken under the inbox's lock.
    fn slot(&self) -> Option<Slot> {
        let most = usize::try_from(self.limits.streams).unwrap_or(usize::MAX);
        (self.open_streams.load(Ordering::Relaxed) < most).then(|| {
            self.open_streams.fetch_add(1, Ordering::Relaxed);
            self.taken(&self.open_streams)
        })
    }

    /// A place for one more connection for a web page.
    pub(crate) fn web_slot(&self) -> Option<Slot> {
        let more = |open: usize| (open < MAX_WEB && !self.is_closed()).then_some(open + 1);
        let counted = &self.open_web;
        counted
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .ok()?;
        Some(self.taken(counted))
    }

    fn taken(&self, places: &Arc<AtomicUsize>) -> Slot {
        Slot {
            taken: Arc::clone(places),
            meter: Arc::clone(&self.meter),
        }
    }

    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The register of a server's sessions. Clones share it.
///
/// Looking one up costs a shared lock and a hash; it is meant to be done for every datagram.
#[derive(Clone, Debug, Default)]
pub struct Sessions(Arc<RwLock<Register>>);

#[derive(Debug, Default)]
struct Register {
    by_id: HashMap<u64, Arc<Session>>,
    stopped: bool,
    watcher: Option<Watcher>,
}

/// What is to be done with the numbers of all sessions.
type Told = dyn Fn(&[u64]) + Send + Sync;

/// Who is told which sessions there are.
struct Watcher(Box<Told>);

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watcher(..)")
    }
}

impl Sessions {
    /// The session with this name, while it lasts.
    pub fn find(&self, id: u64) -> Option<Arc<Session>> {
        let register = self.0.read().unwrap_or_else(PoisonError::into_inner);
        register.by_id.get(&id).map(Arc::clone)
    }

    /// Tells `told` the numbers of all sessions, now and whenever they change: before a new client is welcomed, and when one is gone.
    /// Nobody can look a session up meanwhile, so it returns at once. There is one watcher: the latest.
    pub fn watch(&self, told: impl Fn(&[u64]) + Send + Sync + 'static) {
        let mut register = self.0.write().unwrap_or_else(PoisonError::into_inner);
        register.watcher = Some(Watcher(Box::new(told)));
        register.tell();
    }

    /// Whether the source of `peer` has a session.
    pub(crate) fn has_source(&self, peer: &SocketAddr) -> bool {
        let register = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut sessions = register.by_id.values();
        sessions.any(|session| source(session.peer.ip()) == source(peer.ip()))
    }

    /// How many sessions there are now.
    pub fn len(&self) -> usize {
        let register = self.0.read().unwrap_or_else(PoisonError::into_inner);
        register.by_id.len()
    }

    /// Whether there is no session now.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Begins a session for `guest`, if there is room.
    ///
    /// # Errors
    /// The refusal to send.
    pub(crate) fn begin(
        &self,
        guest: Guest,
        limits: Limits,
        admission: &Admission,
    ) -> Result<Membership, Refusal> {
        let mut register = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(refusal) = register.refusal(&guest.peer, admission) {
            return Err(refusal);
        }
        let session = Arc::new(Session::new(guest, limits));
        register.by_id.insert(session.id, Arc::clone(&session));
        register.tell();
        Ok(Membership {
            session,
            sessions: self.clone(),
        })
    }

    /// Closes the sessions whose time was up at `now`.
    pub(crate) fn expire(&self, now: Instant) {
        let register = self.0.read().unwrap_or_else(PoisonError::into_inner);
        for session in register.by_id.values() {
            if session.ends <= now && !session.is_closed() {
                session.close();
            }
        }
    }

    /// Closes all sessions and begins no more.
    pub(crate) fn stop(&self) {
        let mut register = self.0.write().unwrap_or_else(PoisonError::into_inner);
        register.stopped = true;
        for session in register.by_id.values() {
            session.close();
        }
    }

    /// The opposite of [`Sessions::stop`], for a server that runs again.
    pub(crate) fn start(&self) {
        let mut register = self.0.write().unwrap_or_else(PoisonError::into_inner);
        register.stopped = false;
    }
}

impl Register {
    /// Tells the watcher, if there is one.
    fn tell(&self) {
        if let Some(Watcher(told)) = &self.watcher {
            let numbers: Vec<u64> = self.by_id.keys().copied().collect();
            told(&numbers);
        }
    }

    /// Why one more session from `peer` cannot be had.
    fn refusal(&self, peer: &SocketAddr, admission: &Admission) -> Option<Refusal> {
        if self.stopped {
            return Some(Refusal::new(Code::Busy, "it is being stopped"));
        }
        if self.by_id.len() >= admission.sessions {
            let message = format!("{} sessions at once", admission.sessions);
            return Some(Refusal::new(Code::Busy, message));
        }
        let from_there = source(peer.ip());
        let of_source = self.by_id.values();
        let of_source = of_source.filter(|session| source(session.peer.ip()) == from_there);
        (of_source.count() >= admission.sessions_per_source).then(|| {
            let most = admission.sessions_per_source;
            Refusal::new(
                Code::Limit,
                format!("sessions at once from one address: {most}"),
            )
        })
    }
}

/// Keeps a session in the register; closes it and takes it out when dropped, whatever happened.
#[derive(Debug)]
pub(crate) struct Membership {
    pub(crate) session: Arc<Session>,
    sessions: Sessions,
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.session.close();
        let register = &self.sessions.0;
        let mut register = register.write().unwrap_or_else(PoisonError::into_inner);
        register.by_id.remove(&self.session.id);
        register.tell();
    }
}
