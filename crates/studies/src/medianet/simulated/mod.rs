//! A run of `MediaNet` in virtual time: the same streams, schedulers, tables and figures, over hosts, connections and managers of
//! [`dumbbell::simulated`](crate::dumbbell::simulated).
//!
//! The ends of the connection are here again ([`sender`], [`receiver`]), for those of the lab block on sockets; what a frame is and which ones arrive is
//! decided by the same machines. Estimates are those of the estimation service without the service: its estimator, and long trains as it
//! has them ([`asking`]).

mod asking;
mod receiver;
mod run;
mod sender;
mod stage;

pub use run::run;

use super::frames::Frame;
use super::global::Configuration;
use super::news::News;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// What the ends of the connection and the global scheduler tell each other.
#[derive(Clone, Default)]
struct Told {
    /// What the ends tell.
    news: Rc<RefCell<VecDeque<News>>>,
    /// What the sender is told.
    configurations: Rc<RefCell<VecDeque<Configuration>>>,
    /// Frames that are under way, each with the octets said up to its end: a simulated connection carries no contents.
    frames: Rc<RefCell<VecDeque<(u64, Frame)>>>,
}

impl Told {
    fn tell(&self, news: News) {
        self.news.borrow_mut().push_back(news);
    }
}
