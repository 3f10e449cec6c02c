//! The near end's half of a run between two hosts: what every such run needs, and how it speaks with the far end.
//!
//! The control connection carries one JSON line at a time. The near end asks, the far end answers; when it does not, or says
//! something else, there is no run any more ([`Broken`]).

use crate::ending::{Ending, local_fault};
use lab::Network;
use serde::Serialize;
use serde::de::DeserializeOwned;
use session::{Client, ClockOffset};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::clock;
use units::Instant;

/// How long the far end may take to answer when nothing is under way.
pub const ANSWER: Duration = Duration::from_secs(15);
/// Exchanges by which the two clocks are compared.
const CLOCK_ROUNDS: u32 = 12;
/// How often the far end is asked by UDP until it is ready.
const HELLO: Duration = Duration::from_millis(50);
/// How often what was found is looked at while a measurement goes on.
pub const LOOK: Duration = Duration::from_millis(20);
/// How often it is shown.
pub const DISPLAY: Duration = Duration::from_millis(200);
/// How often it is written down.
pub const FLUSH: Duration = Duration::from_secs(1);

/// What is needed to carry a plan `P` out, and to show how it goes, which `L` says.
pub struct Context<'a, P, L> {
    /// What is to be run.
    pub plan: &'a P,
    /// The emulated network, whose counters go into the record.
    pub lab: Option<&'a Network>,
    /// Raised when the user interrupts.
    pub interrupt: &'a AtomicBool,
    /// Told how it goes.
    pub display: &'a dyn Fn(&L),
}

impl<P, L> Context<'_, P, L> {
    /// Whether the user has interrupted.
    pub fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// How a run ended that was not lost.
    pub fn ending(&self) -> Ending {
        if self.is_interrupted() {
            Ending::Interrupted
        } else {
            Ending::Complete
        }
    }
}

/// Why a part of a run has no counters.
pub enum Broken {
    /// The far end is gone, or refuses.
    Far(String),
    /// This machine lacks something.
    Here(String),
    /// The record cannot be written.
    Record(record::Error),
}

impl Broken {
    /// Ours or theirs, by what the system said.
    pub fn of(error: &(dyn std::error::Error + 'static)) -> Self {
        local_fault(error).map_or_else(|| Self::Far(error.to_string()), Self::Here)
    }

    /// How a run ends by it, of which the user may have had enough.
    ///
    /// # Errors
    /// When the record cannot be written: then there is no run.
    pub fn ending(self, is_interrupted: bool) -> Result<Ending, record::Error> {
        match self {
            Self::Record(error) => Err(error),
            _ if is_interrupted => Ok(Ending::Interrupted),
            Self::Far(reason) => Ok(Ending::Lost(reason)),
            Self::Here(reason) => Ok(Ending::Broke(reason)),
        }
    }

    /// Why, in words.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub fn reason(self) -> Result<String, record::Error> {
        match self {
            Self::Record(error) => Err(error),
            Self::Far(reason) | Self::Here(reason) => Ok(reason),
        }
    }

    /// The far end refuses.
    pub fn refused(reason: &str) -> Self {
        Self::Far(format!("the server refuses: {}", plain(reason)))
    }

    /// The far end said what has no place here in the exchange.
    pub fn out_of_turn() -> Self {
        Self::Far("the server sent an unexpected message".to_owned())
    }
}

/// Another host's words, without what would move a terminal's cursor.
pub fn plain(words: &str) -> String {
    words.chars().filter(|c| !c.is_control()).collect()
}

impl From<record::Error> for Broken {
    fn from(error: record::Error) -> Self {
        Self::Record(error)
    }
}

impl From<sys::Error> for Broken {
    fn from(error: sys::Error) -> Self {
        Self::of(&error)
    }
}

impl From<session::Error> for Broken {
    fn from(error: session::Error) -> Self {
        Self::of(&error)
    }
}

impl From<anyhow::Error> for Broken {
    fn from(error: anyhow::Error) -> Self {
        Self::of(error.as_ref())
    }
}

/// Compares the clocks and tells the far end that a run begins: `opening` says so, of the run's start on the far end's clock in
/// nanoseconds. This must be followed by the run at once.
///
/// # Errors
/// When the far end does not answer.
pub fn agree<T: Serialize>(
    client: &mut Client,
    opening: impl FnOnce(u64) -> T,
) -> Result<(Instant, ClockOffset), session::Error> {
    let clock = client.control.measure_clock(CLOCK_ROUNDS, ANSWER)?;
    let origin = clock::now();
    let opening = opening(clock.to_theirs(origin).as_nanos());
    client.control.send(&opening)?;
    Ok((origin, clock))
}

/// Says a line.
///
/// # Errors
/// When the connection is broken.
pub fn say(client: &mut Client, line: &impl Serialize) -> Result<(), Broken> {
    Ok(client.control.send(line)?)
}

/// Waits for an answer.
///
/// # Errors
/// When the far end does not answer in time, or says something else.
pub fn hear<T: DeserializeOwned>(client: &mut Client) -> Result<T, Broken> {
    Ok(client.control.recv(ANSWER)?)
}

/// Says `hello` by UDP until the far end has said something, and hands over what.
///
/// # Errors
/// As [`hear`].
pub fn until_answered<T: DeserializeOwned>(
    client: &mut Client,
    hello: impl Fn(),
) -> Result<T, Broken> {
    let deadline = clock::now() + ANSWER;
    loop {
        hello();
        match client.control.recv(HELLO) {
            Err(session::Error::Timeout { .. }) if clock::now() < deadline => {}
            heard => return Ok(heard?),
        }
    }
}
