//! What a path does to packets, without a socket, a clock or a thread.
//!
//! A path is a row of *elements*: a queue drained at a rate, a delay, a loss process. Each is an
//! [`Element`]: packets and `now` go in, packets come out, and the element says when it wants to be
//! called next. [`Pipeline`] puts elements in a row and is an element itself. The same values run in
//! virtual time (tests, `sim`) and behind network interfaces in real time (`lab`).
//!
//! Every packet carries its **logical time** ([`Packet::at`]): an element stamps each packet with
//! the exact instant at which it leaves, and the next element reckons from that stamp. A runner
//! that wakes 80 us late therefore delivers one packet late and shifts nothing behind it: lateness
//! never accumulates, and the decisions of queues do not depend on it.
//!
//! | element | parts |
//! |---|---|
//! | [`Link`] drains a [`Queue`] as its [`Service`] allows | [`ConstantRate`], [`TraceRate`], [`TokenBucket`]; [`Fifo`], [`Red`], [`CoDel`], [`FqCoDel`], [`Pie`] |
//! | [`Shared`] is a link that others use too | a [`Source`] of their packets |
//! | [`Delay`] holds each packet as its [`DelayModel`] says | [`Fixed`], [`Jitter`], [`FlowDelay`], [`ConnectionDelay`], [`HoldBack`] |
//! | [`FifoDelay`] is the commonest of links and the delays around it in one, for simulations | |
//! | [`Loss`] loses packets as its [`LossProcess`] says | [`Bernoulli`], [`GilbertElliott`], [`Listed`] |
//! | [`Blackhole`] loses all packets of one version of IP | |
//! | [`Duplicate`] sends some packets twice | |
//! | [`Remark`] changes DSCP and ECN | [`DscpTable`], [`EcnChange`] |
//!
//! [`Spec`] is the same as data: what a topology file says, checked and built into a pipeline.
//!
//! ```
//! use isobath_path::{Assigned, Element, Family, Packet, Spec};
//! use std::collections::VecDeque;
//! use units::{Dscp, Ecn, FlowId, Instant};
//!
//! #[derive(serde::Deserialize)]
//! struct Topology {
//!     path: Spec,
//! }
//! let text = r#"path = [{ kind = "rate", rate = "12Mbit" }, { kind = "delay", delay = "5ms" }]"#;
//! let topology: Topology = toml::from_str(text)?;
//! let no_trace = |name: &str| Err(format!("no trace {name}").into());
//! let mut pipeline = topology.path.build(1, &no_trace, &Assigned::default())?;
//!
//! let (at, mut out) = (Instant::ZERO, VecDeque::new());
//! let (flow, family, dscp, ecn) = (FlowId(0), Family::V6, Dscp::CS0, Ecn::NotEct);
//! let packet = Packet { size: 1_500, flow, family, dscp, ecn, at, body: () };
//! let mut wake = pipeline.process(Some(packet), at, &mut out);
//! while let Some(due) = wake {
//!     wake = pipeline.process(None, due, &mut out);
//! }
//! // 1 ms on the link, 5 ms on the wire.
//! assert_eq!(out[0].at, Instant::from_millis(6));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Everything random draws from a stream of its own that is derived from one seed, so a path does
//! the same to the same packets every time.
#![forbid(unsafe_code)]

mod cross;
mod delay;
mod duplicate;
mod element;
mod error;
mod fifo_delay;
mod link;
mod loss;
mod noted;
mod packet;
mod pipeline;
mod probability;
mod queue;
mod radix_heap;
mod random;
mod remark;
pub mod slots;
mod spec;

pub use cross::{Own, Pace, Recording, Schedule, Sent, Shared, Sizes, Source};
pub use delay::{
    Assigned, ConnectionDelay, Delay, DelayModel, Distribution, Fixed, FlowDelay, HoldBack, Jitter,
    SteadyDelay,
};
pub use duplicate::Duplicate;
pub use element::{Cause, Count, Counters, Element, Others};
pub use error::Error;
pub use fifo_delay::FifoDelay;
pub use link::{ConstantRate, Link, OPPORTUNITY_BYTES, Service, TokenBucket, Trace, TraceRate};
pub use loss::{Bernoulli, Blackhole, GilbertElliott, Listed, Loss, LossProcess};
pub use noted::Arrival;
pub use packet::{Family, Packet};
pub use pipeline::{Pipeline, StageState};
pub use probability::Probability;
pub use queue::{
    CoDel, CoDelConfig, Fifo, FqCoDel, FqCoDelConfig, Limit, Pie, PieConfig, Queue, Red, RedConfig,
};
pub use radix_heap::RadixHeap;
pub use remark::{DscpTable, EcnChange, Remark};
pub use spec::{CrossSpec, QueueSpec, Resolver, Spec, StageSpec, Then};
