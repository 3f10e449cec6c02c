//! What a client says of its run to each far end: read or refused; what is accepted can be begun within bounds.

use serde::de::DeserializeOwned;
use std::time::Duration;
use transport::{Receiver, Sender};
use units::Instant;

fn read<T: DeserializeOwned>(octets: &[u8]) -> Option<T> {
    serde_json::from_slice(octets).ok()
}

/// Transfers that a far end would begin.
fn btc(transfers: &[btc::messages::TransferSetup]) {
    let options = || transfers.iter().map(|transfer| &transfer.options);
    if schema::btc::plan::check_windows(options()).is_err() {
        return;
    }
    for options in options().filter(|options| schema::btc::plan::check_options(options).is_ok()) {
        let mut sender = Sender::new(options, 1);
        sender.supply(100);
        let now = Instant::from_millis(1);
        let first = std::iter::from_fn(|| sender.poll_transmit(now)).count();
        assert!(first <= 1_000, "{first} segments unasked");
        assert!(Receiver::new(options).poll_transmit(now).is_none());
    }
}

/// Runs the target on an input.
pub fn run(octets: &[u8]) {
    if let Some(btc::messages::Near::Round(transfers)) = read(octets) {
        btc(&transfers);
    }
    if let Some(setup) = read::<mbm_run::messages::Setup>(octets)
        && setup.plan.check().is_ok()
    {
        let _ = setup.plan.check_path(Duration::from_millis(40));
    }
    if let Some(setup) = read::<estimate::messages::Setup>(octets) {
        let _ = setup.plan.check();
    }
    let _ = read::<estimate::messages::Near>(octets);
    let _ = read::<rrul::messages::Setup>(octets);
    let _ = read::<tmix::replay::messages::Setup>(octets);
    let _ = read::<tmix::replay::messages::Near>(octets);
}
