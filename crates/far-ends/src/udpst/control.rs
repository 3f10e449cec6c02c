//! Test Setup, Null Request and Test Activation (RFC 9946 sections 5 to 7).

use super::rates::SendingRate;
use super::wire::{Direction, VERSION, fields, write_rate};

const SETUP: u16 = 0xACE1;
const NULL: u16 = 0xDEAD;
const ACTIVATION: u16 = 0xACE2;
/// Octets of each.
pub(super) const SETUP_LEN: usize = 56;
const NULL_LEN: usize = 48;
pub(super) const ACTIVATION_LEN: usize = 104;

/// In a setup's modifiers: datagrams may be longer than 1,250 octets with their headers where the rate is above 1 Gbit/s.
pub const JUMBO: u8 = 1;
/// In a setup's modifiers: they have 1,500.
pub const TRADITIONAL_MTU: u8 = 2;
/// In a setup's bandwidth: it is wanted upstream.
const UPSTREAM: u16 = 1 << 15;
/// In an activation's modifiers: what is in datagrams is random.
const RANDOM_PAYLOAD: u8 = 2;
/// An activation's row where the server is to search.
const SEARCH: u16 = u16::MAX;

/// Test Setup, a request or the response to it (section 5).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Setup {
    /// Of the protocol.
    pub(super) version: u16,
    /// Number of this connection among those of a test, from 0, and how many there are.
    pub(super) connection: (u8, u8),
    /// What these connections have in common.
    pub(super) group: u16,
    /// None in a request; in a response what came of it.
    pub(super) response: Option<u8>,
    /// Bandwidth that is wanted, Mbit/s; 0 where that is not said.
    pub(super) bandwidth_mbps: u16,
    /// Which way that bandwidth is wanted.
    pub(super) direction: Direction,
    /// Where the test takes place; 0 in a request.
    pub(super) test_port: u16,
    /// [`JUMBO`], [`TRADITIONAL_MTU`].
    pub(super) modifiers: u8,
}

impl Setup {
    /// Reads one.
    pub(super) fn parse(pdu: &[u8]) -> Option<Self> {
        if pdu.len() != SETUP_LEN {
            return None;
        }
        let mut fields = fields(pdu, SETUP, SETUP_LEN)?;
        let version = fields.u16()?;
        let connection = (fields.u8()?, fields.u8()?);
        let group = fields.u16()?;
        let (command, response) = (fields.u8()?, fields.u8()?);
        let response = match command {
            1 => None,
            2 => Some(response),
            _ => return None,
        };
        let bandwidth = fields.u16()?;
        Some(Self {
            version,
            connection,
            group,
            response,
            bandwidth_mbps: bandwidth & !UPSTREAM,
            direction: if bandwidth & UPSTREAM == 0 {
                Direction::Downstream
            } else {
                Direction::Upstream
            },
            test_port: fields.u16()?,
            modifiers: fields.u8()?,
        })
    }

    /// Writes it, unauthenticated.
    pub(super) fn emit(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(SETUP_LEN);
        out.extend(SETUP.to_be_bytes());
        out.extend(self.version.to_be_bytes());
        out.extend([self.connection.0, self.connection.1]);
        out.extend(self.group.to_be_bytes());
        out.extend(match self.response {
            None => [1, 0],
            Some(response) => [2, response],
        });
        let upstream = match self.direction {
            Direction::Upstream if self.bandwidth_mbps > 0 => UPSTREAM,
            _ => 0,
        };
        out.extend((self.bandwidth_mbps & !UPSTREAM | upstream).to_be_bytes());
        out.extend(self.test_port.to_be_bytes());
        out.push(self.modifiers);
        out.resize(SETUP_LEN, 0);
        out
    }
}

/// A Null Request (section 6): it opens the server's firewall.
pub(super) fn null() -> Vec<u8> {
    let mut out = Vec::with_capacity(NULL_LEN);
    out.extend(NULL.to_be_bytes());
    out.extend(VERSION.to_be_bytes());
    out.push(1);
    out.resize(NULL_LEN, 0);
    out
}

/// The algorithm by which the rate is searched.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Algorithm {
    /// Type B (RFC 9097 section 8.1).
    #[default]
    B,
    /// Type C: the rate is multiplied, and the fast search tried again after a while (RFC 9946 section 7).
    C,
}

/// What a test is to be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Terms {
    /// Which way the load goes.
    pub direction: Direction,
    /// Delay variation below which the rate rises, and above which it falls, ms.
    pub thresholds_ms: (u16, u16),
    /// From one status feedback to the next, ms.
    pub trial_ms: u16,
    /// How long the test lasts, s.
    pub test_s: u16,
    /// DSCP and ECN field of its packets.
    pub dscp_ecn: u8,
    /// A row of the server's table that is sent all the time, or that the search begins with; none: the search begins with nothing.
    pub row: Option<u16>,
    /// Whether one-way delay variation is what counts, and not that of round trips.
    pub one_way: bool,
    /// Rows by which the rate rises while it is searched fast.
    pub fast_rows: u8,
    /// Trials with impairments in a row that end the fast search.
    pub slow_threshold: u16,
    /// Losses in a trial that are no impairment.
    pub losses_allowed: u16,
    /// Whether reordered and duplicate datagrams are no impairment.
    pub ignore_reordered: bool,
    /// Whether what is in datagrams is random.
    pub random_payload: bool,
    /// How the rate is searched.
    pub algorithm: Algorithm,
    /// A sub-interval, ms: the capacity is the largest of one.
    pub sub_interval_ms: u16,
}

/// Test Activation, a request or the response to it (section 7).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Activation {
    /// None in a request; in a response what came of it.
    pub response: Option<u8>,
    /// What is asked for, or what the server makes of it.
    pub terms: Terms,
    /// In the response to an upstream test: what to begin with.
    pub rate: SendingRate,
}

impl Activation {
    /// Reads one; `is_response` tells what it is, which the PDU does not.
    pub fn parse(pdu: &[u8], is_response: bool) -> Option<Self> {
        if pdu.len() != ACTIVATION_LEN {
            return None;
        }
        let mut fields = fields(pdu, ACTIVATION, ACTIVATION_LEN)?;
        fields.u16()?;
        let direction = match fields.u8()? {
            1 => Direction::Upstream,
            2 => Direction::Downstream,
            _ => return None,
        };
        let response = fields.u8()?;
        let thresholds_ms = (fields.u16()?, fields.u16()?);
        let (trial_ms, test_s) = (fields.u16()?, fields.u16()?);
        fields.u8()?;
        let dscp_ecn = fields.u8()?;
        let row = Some(fields.u16()?).filter(|row| *row != SEARCH);
        let one_way = fields.u8()? != 0;
        let (fast_rows, slow_threshold) = (fields.u8()?, fields.u16()?);
        let (losses_allowed, ignore_reordered) = (fields.u16()?, fields.u8()? != 0);
        let modifiers = fields.u8()?;
        let algorithm = match fields.u8()? {
            1 => Algorithm::C,
            _ => Algorithm::B,
        };
        fields.u8()?;
        let rate = fields.rate()?;
        Some(Self {
            response: is_response.then_some(response),
            terms: Terms {
                direction,
                thresholds_ms,
                trial_ms,
                test_s,
                dscp_ecn,
                row,
                one_way,
                fast_rows,
                slow_threshold,
                losses_allowed,
                ignore_reordered,
                random_payload: modifiers & RANDOM_PAYLOAD != 0,
                algorithm,
                sub_interval_ms: fields.u16()?,
            },
            rate,
        })
    }

    /// Writes it, unauthenticated.
    pub fn emit(&self) -> Vec<u8> {
        let terms = &self.terms;
        let mut out = Vec::with_capacity(ACTIVATION_LEN);
        out.extend(ACTIVATION.to_be_bytes());
        out.extend(VERSION.to_be_bytes());
        out.push(match terms.direction {
            Direction::Upstream => 1,
            Direction::Downstream => 2,
        });
        out.push(self.response.unwrap_or(0));
        out.extend(terms.thresholds_ms.0.to_be_bytes());
        out.extend(terms.thresholds_ms.1.to_be_bytes());
        out.extend(terms.trial_ms.to_be_bytes());
        out.extend(terms.test_s.to_be_bytes());
        out.extend([0, terms.dscp_ecn]);
        out.extend(terms.row.unwrap_or(SEARCH).to_be_bytes());
        out.extend([u8::from(terms.one_way), terms.fast_rows]);
        out.extend(terms.slow_threshold.to_be_bytes());
        out.extend(terms.losses_allowed.to_be_bytes());
        out.push(u8::from(terms.ignore_reordered));
        out.push(if terms.random_payload {
            RANDOM_PAYLOAD
        } else {
            0
        });
        out.push(match terms.algorithm {
            Algorithm::B => 0,
            Algorithm::C => 1,
        });
        out.push(0);
        write_rate(&self.rate, &mut out);
        out.extend(terms.sub_interval_ms.to_be_bytes());
        out.resize(ACTIVATION_LEN, 0);
        out
    }
}
