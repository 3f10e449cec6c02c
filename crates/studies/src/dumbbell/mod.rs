//! A lab in which an application, a tool and others share a bottleneck, with a manager at either end of it.
//!
//! T's figure 5.1 (Papageorgiou 2008) is one: `manager-dumbbell`. Any lab does in which the slowest link between client and server is not the
//! client's own ([`Place`]). The managers are those of `isobath manager up`, in threads of this process ([`Managers`]), or in virtual time ([`simulated`]).

pub mod managers;
pub mod place;
pub mod simulated;

pub use managers::{Managers, Riding};
pub use place::Place;
