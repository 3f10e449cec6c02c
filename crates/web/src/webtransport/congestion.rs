//! Congestion control of probes: none.
//!
//! They are sent at a low and even rate, as a telephone's packets are. Held back, they would tell of the sender and not of the path.

use quinn::congestion::{Controller, ControllerFactory};
use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

/// A window that does not change: four seconds of probes and a call.
const WINDOW: u64 = 64 << 10;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constant;

impl ControllerFactory for Constant {
    fn build(self: Arc<Self>, _: Instant, _: u16) -> Box<dyn Controller> {
        Box::new(*self)
    }
}

impl Controller for Constant {
    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: u64) {}

    fn on_mtu_update(&mut self, _: u16) {}

    fn window(&self) -> u64 {
        WINDOW
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(*self)
    }

    fn initial_window(&self) -> u64 {
        WINDOW
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
