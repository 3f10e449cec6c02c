//! A socket of its own for one peer, on a port that another socket has.
//!
//! The kernel gives a datagram to the socket that fits it best: one that is connected to where it came from fits better
//! than one that takes from everybody. So a server can have one port for all, and a socket, a thread and a buffer for each
//! peer that has much to say. Two sockets share a port only where both allow it (`SO_REUSEADDR`) at the moment of binding;
//! the older one allows it for that moment alone, so no other program can join later (but see `sorted.rs`: one of the same user can join a
//! port that two protocols share).

use super::{UdpSocket, enable, nonblocking};
use crate::{Error, sockopt};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Arc, Mutex, PoisonError};

/// One socket at a time is bound beside another: the permission is the older socket's, not the caller's.
static BINDING: Mutex<()> = Mutex::new(());

impl UdpSocket {
    /// Opens a socket on this one's port that is connected to `peer`: what comes from there to `local` (the address of this
    /// host that the peer uses; without one, any) arrives at the new socket from now on, and everything else here.
    ///
    /// Between binding and connecting, some microseconds, the new socket gets what others send, too; it is thrown away,
    /// as a path may lose a datagram at any time.
    ///
    /// # Errors
    /// When the kernel refuses, or there is no route to `peer`.
    pub fn beside(&self, peer: SocketAddr, local: Option<IpAddr>) -> Result<Self, Error> {
        let own = self.local_addr()?;
        let address = SocketAddr::new(local.unwrap_or_else(|| own.ip()), own.port());
        let name = format!("UDP socket {address} beside another");
        let failed = |e| Error::io("open", &name, e);
        let mut beside = Self {
            socket: self.share(address).map_err(failed)?,
            name: name.clone(),
            v6: address.is_ipv6(),
            peer: None,
            sent: AtomicU32::new(0),
            no_trains: AtomicBool::new(false),
            is_raw: false,
            meter: Arc::default(),
        };
        beside.connect(peer)?;
        enable(&beside.socket, true, beside.v6)
            .map_err(|e| Error::io("enable stamps and marks of", &name, e))?;
        beside.throw_away();
        Ok(beside)
    }

    fn share(&self, address: SocketAddr) -> io::Result<socket2::Socket> {
        let _one = BINDING.lock().unwrap_or_else(PoisonError::into_inner);
        let socket = nonblocking(address)?;
        socket.set_reuse_address(true)?;
        self.socket.set_reuse_address(true)?;
        let bound = socket.bind(&address.into());
        self.socket.set_reuse_address(false)?;
        bound.map(|()| socket)
    }

    /// Empties the receive buffer.
    pub(super) fn throw_away(&self) {
        let mut octet = [std::mem::MaybeUninit::uninit()];
        while self.socket.recv(&mut octet).is_ok() {}
    }

    /// Never lets a datagram be cut into fragments, here or on the way (`IP_PMTUDISC_DO`): one that is too long fails
    /// with [`Error::is_too_long`], or is lost and comes back as an event.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn forbid_fragments(&self) -> Result<(), Error> {
        self.discover(libc::IP_PMTUDISC_DO, libc::IPV6_PMTUDISC_DO)
    }

    /// The same, and what routers say of the path's length is not believed but for coming as an event (`IP_PMTUDISC_PROBE`): for those who
    /// ask the path themselves (RFC 8899). Only what is too long for this host's own interface fails.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn ignore_path_mtu(&self) -> Result<(), Error> {
        self.discover(libc::IP_PMTUDISC_PROBE, libc::IPV6_PMTUDISC_PROBE)
    }

    fn discover(&self, how4: libc::c_int, how6: libc::c_int) -> Result<(), Error> {
        let set = |level, name, value| sockopt::set_int(&self.socket, level, name, value);
        let v4 = self.set_v4(|| set(libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, how4));
        let v6 = self.set_v6(|| set(libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, how6));
        v4.and(v6).map_err(|e| self.error("forbid fragments of", e))
    }

    /// The longest packet that the kernel knows to fit on the path to the peer of a connected socket, in octets.
    pub fn path_mtu(&self) -> Option<u32> {
        let v4 = self.peer.is_none_or(|peer| peer.is_ipv4());
        let (level, name) = if v4 && !self.v6 {
            (libc::IPPROTO_IP, libc::IP_MTU)
        } else {
            (libc::IPPROTO_IPV6, libc::IPV6_MTU)
        };
        let mut value = [0; 4];
        let filled = sockopt::get_bytes(&self.socket, level, name, &mut value).ok()?;
        let mtu = i32::from_ne_bytes(filled.try_into().ok()?);
        u32::try_from(mtu).ok()
    }
}
