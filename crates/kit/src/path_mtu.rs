//! How long packets may be: as an Ethernet's, or as what the path takes of them both ways.
//!
//! A server answers each request by one as long, without being told of it, so requests of all usual lengths tell
//! ([`mgrp::path_mtu`]). On most paths the first does, and that takes a round trip.

use crate::hello;
use mgrp::path_mtu::PathMtu;
use packet::{ETHERNET_MTU, UDP_HEADERS};
use session::Client;
use session::wire::{Kind, Probe};
use std::time::Duration;
use sys::udp::{RecvBatch, UdpSocket};
use sys::{Error, clock};

/// The stream of the requests, which is no test's.
const STREAM: u16 = u16::MAX;
/// How often is looked whether the run is interrupted.
const LOOK: Duration = Duration::from_millis(50);

/// Octets of the longest packet that comes back from the far end, IP header included, and at most [`ETHERNET_MTU`]; none where none does.
///
/// # Errors
/// When the system gives no socket.
pub fn find(client: &Client, is_over: &dyn Fn() -> bool) -> Result<Option<u32>, Error> {
    let socket = hello::connected(client)?;
    socket.ignore_path_mtu()?;
    let v6 = client.peer.ip().to_canonical().is_ipv6();
    let headers = UDP_HEADERS[usize::from(v6)] as usize;
    let mut path = PathMtu::new(
        u16::try_from(ETHERNET_MTU).unwrap_or(u16::MAX),
        clock::now(),
    );
    let mut batch = RecvBatch::new(16, ETHERNET_MTU as usize);
    while path.is_searching() && !is_over() {
        while let Some(octets) = path.poll_word(clock::now()) {
            let length = usize::from(octets).saturating_sub(headers);
            hello::ask(&socket, &client.dialer, STREAM, length);
        }
        let left = path.next_timeout().since(clock::now());
        socket.wait(left.min(LOOK))?;
        for length in answers(client, &socket, &mut batch)? {
            let octets = u16::try_from(length + headers).unwrap_or(u16::MAX);
            path.handle_answer(octets, clock::now());
        }
    }
    Ok(path.is_found().then(|| path.mtu().into()))
}

/// Octets of the answers that have come.
fn answers(
    client: &Client,
    socket: &UdpSocket,
    batch: &mut RecvBatch,
) -> Result<Vec<usize>, Error> {
    while socket.poll_event()?.is_some() {}
    socket.recv(batch)?;
    let session = client.dialer.session();
    let key = client.dialer.keys().to_client;
    let is_ours = |octets: &[u8]| {
        let answer = Probe::parse(octets).ok();
        let answer = answer.filter(|answer| answer.kind == Kind::Reply);
        answer.is_some_and(|answer| (answer.session, answer.stream) == (session, STREAM))
            && Probe::verify(octets, &key).is_ok()
    };
    let ours = batch.iter().filter(|answer| is_ours(answer.payload));
    Ok(ours.map(|answer| answer.length).collect())
}
