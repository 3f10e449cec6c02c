//! Where a measurement takes place: over a real path, or in a lab that is brought up for it.

use crate::lab_server::{Far, between};
use crate::options::Towards;
use lab::Network;
use session::Client;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use sys::process;

/// A far end that has welcomed us, and the lab that it is in, if it is in one.
pub struct Place {
    /// The emulated network.
    pub network: Option<Network>,
    /// Raised when the user interrupts.
    pub interrupt: Arc<AtomicBool>,
    /// The far ends that run in the lab; they end with this.
    pub far: Vec<Far>,
    /// The session with the far end.
    pub client: Client,
}

impl Place {
    /// Brings the lab up that was named, if one was, with a far end in it, and connects.
    ///
    /// # Errors
    /// When there is no such lab, or it cannot be brought up; when the far end cannot be reached or refuses.
    pub fn reach(towards: &Towards, seed: u64) -> anyhow::Result<Self> {
        Self::between(towards, [None, None], seed)
    }

    /// The same between two hosts of the lab that were asked for, or its own.
    ///
    /// # Errors
    /// As [`Place::reach`].
    pub fn between(towards: &Towards, ends: [Option<&str>; 2], seed: u64) -> anyhow::Result<Self> {
        // The lab comes first: it may have to change this process before there are other threads.
        let network = towards.lab.as_deref();
        let network = network.map(|name| between(name, ends, seed)).transpose()?;
        let interrupt = process::interrupt_flag()?;
        let far = network.as_ref();
        let far = far.map(|network| Far::start_all(network, towards.reach.is_v6()));
        let far = far.transpose()?.unwrap_or_default();
        let client = towards.connect(far.first())?;
        Ok(Self {
            network,
            interrupt,
            far,
            client,
        })
    }
}
