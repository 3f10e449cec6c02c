//! Network interfaces of the calling thread's namespace: up, addresses, routes (rtnetlink).

use crate::Error;
use netlink_bindings::traits::NetlinkRequest;
use netlink_bindings::{rt_addr, rt_link, rt_route, rt_rule};
use netlink_socket2::NetlinkSocket;
use rustix::net::{AddressFamily, SocketType};
use std::io;
use std::net::IpAddr;

/// `IFF_UP`.
const UP: u32 = 1;
/// `IFA_F_NODAD`: use an IPv6 address at once, without looking for a duplicate first.
const NO_DAD: u8 = 2;
// `RT_TABLE_MAIN`, `RTPROT_STATIC`, `RT_SCOPE_LINK` and `RTN_UNICAST`.
const MAIN: u8 = 254;
const STATIC: u8 = 4;
const LINK: u8 = 253;
const UNICAST: u8 = 1;

/// Brings interface `name` up, with an MTU of `mtu` octets and a transmit queue of `queue` packets if given.
///
/// # Errors
///
/// When there is no such interface or it may not be changed.
pub fn up(name: &str, mtu: Option<u32>, queue: Option<u32>) -> Result<(), Error> {
    let ifi_index = index(name)?.cast_signed();
    let header = rt_link::Ifinfomsg {
        ifi_index,
        ifi_flags: UP,
        ifi_change: UP,
        ..Default::default()
    };
    let mut request = rt_link::Request::new().op_newlink_do(&header);
    if let Some(mtu) = mtu {
        request.encode().push_mtu(mtu);
    }
    if let Some(queue) = queue {
        request.encode().push_txqlen(queue);
    }
    acknowledged(&request).map_err(|e| Error::io("bring up interface", name, e))
}

/// Gives interface `name` the address `address` with nothing else in its subnet (a prefix of full length).
///
/// # Errors
///
/// When there is no such interface or it may not be changed.
pub fn add_address(name: &str, address: IpAddr) -> Result<(), Error> {
    add_network_address(name, address, prefix(address))
}

/// Gives interface `name` the address `address`, and all addresses that begin with the same `prefix` bits are behind it.
///
/// # Errors
///
/// When there is no such interface or it may not be changed.
pub fn add_network_address(name: &str, address: IpAddr, prefix: u8) -> Result<(), Error> {
    let header = rt_addr::Ifaddrmsg {
        ifa_family: family(address),
        ifa_prefixlen: prefix,
        ifa_flags: NO_DAD,
        ifa_index: index(name)?,
        ..Default::default()
    };
    let mut request = rt_addr::Request::new().set_create().op_newaddr_do(&header);
    request.encode().push_local(address);
    acknowledged(&request).map_err(|e| Error::io("add address to interface", name, e))
}

/// Routes all addresses that begin with the same `prefix` bits as `network` out of interface `name`, from this host's address
/// `source`, in the main table or that of this number. A route of the same length to the same network there, by whatever interface, is
/// an error and stays.
///
/// # Errors
///
/// When there is no such interface, it may not be changed, or there is such a route.
pub fn add_network_route(
    name: &str,
    network: IpAddr,
    prefix: u8,
    source: IpAddr,
    table: Option<u32>,
) -> Result<(), Error> {
    let header = route_header(network, prefix);
    let mut request = rt_route::Request::new()
        .set_create()
        .set_excl()
        .op_newroute_do(&header);
    request
        .encode()
        .push_dst(network)
        .push_oif(index(name)?)
        .push_prefsrc(source)
        .push_table(table.unwrap_or_else(|| MAIN.into()));
    acknowledged(&request).map_err(|e| {
        let advice = match e.kind() {
            io::ErrorKind::AlreadyExists => "another interface has this route",
            _ => "",
        };
        let object = format!("{name} to {network}/{prefix}");
        Error::io("add a route through interface", object, e).advise(advice)
    })
}

/// Routes `destination` (one host) out of interface `name`, from this host's address `source`. TCP there begins with a
/// window of `window` segments if given, and offers one of as many.
///
/// # Errors
///
/// When there is no such interface or it may not be changed.
pub fn add_route(
    name: &str,
    destination: IpAddr,
    source: IpAddr,
    window: Option<u32>,
) -> Result<(), Error> {
    let header = route_header(destination, prefix(destination));
    let mut request = rt_route::Request::new()
        .set_create()
        .op_newroute_do(&header);
    request
        .encode()
        .push_dst(destination)
        .push_oif(index(name)?)
        .push_prefsrc(source);
    if let Some(window) = window {
        let metrics = request.encode().nested_metrics();
        metrics.push_initcwnd(window).push_initrwnd(window);
    }
    acknowledged(&request).map_err(|e| Error::io("add route through interface", name, e))
}

/// Lets packets of one version of IP that bear `mark` be routed by table `table` first. One such rule is enough: where it is there
/// already, nothing changes. Unlike routes, rules outlive interfaces: see [`remove_mark_rule`].
///
/// # Errors
///
/// When this user may not.
pub fn add_mark_rule(mark: u32, table: u32, is_v4: bool) -> Result<(), Error> {
    let header = rule_header(is_v4);
    let mut request = rt_rule::Request::new()
        .set_create()
        .set_excl()
        .op_newrule_do(&header);
    request.encode().push_fwmark(mark).push_table(table);
    match acknowledged(&request) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        done => done.map_err(|e| Error::io("add a rule of routing for mark", mark.to_string(), e)),
    }
}

/// Takes the rule away again.
///
/// # Errors
///
/// When there is none, or this user may not.
pub fn remove_mark_rule(mark: u32, table: u32, is_v4: bool) -> Result<(), Error> {
    let header = rule_header(is_v4);
    let mut request = rt_rule::Request::new().op_delrule_do(&header);
    request.encode().push_fwmark(mark).push_table(table);
    acknowledged(&request)
        .map_err(|e| Error::io("remove the rule of routing for mark", mark.to_string(), e))
}

/// Packets that the interface with `address` was to send and dropped since it has been there, after they had left the queue before it
/// (`tx_dropped`); none where no interface has the address.
///
/// # Errors
///
/// When this user may not ask.
pub fn dropped(address: IpAddr) -> Result<Option<u64>, Error> {
    let failed = |e| {
        Error::io(
            "read the counters of the interface with",
            address.to_string(),
            e,
        )
    };
    // Of a socket for both versions of IP.
    let address = address.to_canonical();
    let Some(index) = index_at(address).map_err(failed)? else {
        return Ok(None);
    };
    let header = rt_link::Ifinfomsg {
        ifi_index: index.cast_signed(),
        ..Default::default()
    };
    let request = rt_link::Request::new().op_getlink_do(&header);
    let mut socket = NetlinkSocket::new();
    let mut reply = socket.request(&request).map_err(failed)?;
    let (_, link) = reply.recv_one().map_err(|e| failed(e.into()))?;
    Ok(link.get_stats64().ok().map(|counters| counters.tx_dropped))
}

/// The number of the interface that has `address`.
fn index_at(address: IpAddr) -> io::Result<Option<u32>> {
    let header = rt_addr::Ifaddrmsg {
        ifa_family: family(address),
        ..Default::default()
    };
    let request = rt_addr::Request::new().op_getaddr_dump(&header);
    let mut socket = NetlinkSocket::new();
    let mut reply = socket.request(&request)?;
    let mut found = None;
    // To its end: what is left unread would be the next question's answer.
    while let Some(entry) = reply.recv() {
        let (header, entry) = entry.map_err(io::Error::from)?;
        // An address of IPv6 is no "local" one.
        let local = entry.get_local().or_else(|_| entry.get_address());
        if local.is_ok_and(|local| local == address) {
            found = Some(header.ifa_index);
        }
    }
    Ok(found)
}

fn rule_header(is_v4: bool) -> rt_rule::FibRuleHdr {
    rt_rule::FibRuleHdr {
        family: if is_v4 { 2 } else { 10 },
        // `FR_ACT_TO_TBL`.
        action: 1,
        ..Default::default()
    }
}

fn route_header(network: IpAddr, prefix: u8) -> rt_route::Rtmsg {
    rt_route::Rtmsg {
        rtm_family: family(network),
        rtm_dst_len: prefix,
        rtm_table: MAIN,
        rtm_protocol: STATIC,
        rtm_scope: if network.is_ipv4() { LINK } else { 0 },
        rtm_type: UNICAST,
        ..Default::default()
    }
}

fn acknowledged(request: &impl NetlinkRequest) -> io::Result<()> {
    NetlinkSocket::new()
        .request(request)?
        .recv_ack()
        .map_err(io::Error::from)
}

fn index(name: &str) -> Result<u32, Error> {
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None)
        .map_err(|e| Error::io("open", "a socket to look interfaces up", e))?;
    rustix::net::netdevice::name_to_index(&socket, name)
        .map_err(|e| Error::io("find interface", name, e))
}

fn family(address: IpAddr) -> u8 {
    // `AF_INET` and `AF_INET6`.
    if address.is_ipv4() { 2 } else { 10 }
}

fn prefix(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}
