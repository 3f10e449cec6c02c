//! Network interfaces: only on Linux are they changed.

use crate::Error;
use std::net::IpAddr;

fn refused() -> Result<(), Error> {
    Err(Error::only_linux("changing interfaces and routes"))
}

/// Packets that the interface with an address dropped.
///
/// # Errors
/// Never: it is not known.
pub fn dropped(_address: IpAddr) -> Result<Option<u64>, Error> {
    Ok(None)
}

/// Brings an interface up.
///
/// # Errors
/// Always, as all functions here.
pub fn up(_name: &str, _mtu: Option<u32>, _queue: Option<u32>) -> Result<(), Error> {
    refused()
}

/// Gives an interface an address.
///
/// # Errors
/// Always.
pub fn add_address(_name: &str, _address: IpAddr) -> Result<(), Error> {
    refused()
}

/// Gives an interface an address and the network behind it.
///
/// # Errors
/// Always.
pub fn add_network_address(_name: &str, _address: IpAddr, _prefix: u8) -> Result<(), Error> {
    refused()
}

/// Routes a network out of an interface.
///
/// # Errors
/// Always.
pub fn add_network_route(
    _name: &str,
    _network: IpAddr,
    _prefix: u8,
    _source: IpAddr,
    _table: Option<u32>,
) -> Result<(), Error> {
    refused()
}

/// Routes one host out of an interface.
///
/// # Errors
/// Always.
pub fn add_route(
    _name: &str,
    _destination: IpAddr,
    _source: IpAddr,
    _window: Option<u32>,
) -> Result<(), Error> {
    refused()
}

/// Sends marked packets by another table.
///
/// # Errors
/// Always.
pub fn add_mark_rule(_mark: u32, _table: u32, _is_v4: bool) -> Result<(), Error> {
    refused()
}

/// Takes such a rule back.
///
/// # Errors
/// Always.
pub fn remove_mark_rule(_mark: u32, _table: u32, _is_v4: bool) -> Result<(), Error> {
    refused()
}
