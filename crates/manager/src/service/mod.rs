//! The estimation service: programs ask this manager what a path is like, and it sees to the measuring.
//!
//! Clients say *what* they want to know, how well and how fresh; which estimator runs when, and who shares whose measurement, the machine in
//! [`probe::service`] decides. Here it gets threads, sockets and words.
//!
//! # The rooms
//!
//! - [`http`], [`events`]: requests and their endpoints; [`rights`]: who may ask; [`response`]: what is answered; [`openapi`] describes them.
//! - [`parameters`]: what is behind the question mark. [`answer`]: what is told.
//! - [`desk`]: the thread that has the machine; [`command`]: how it is asked. [`offers`]: the estimators and their costs. [`measuring`]: a thread for each measurement,
//!   which hands its trains to this manager over its own control socket, as any tool does.
//! - [`map`], [`onward`], [`wire`]: what managers know of each other's paths, and queries that another one answers.
//! - [`survey`]: what is shown of all that.

mod answer;
mod command;
mod desk;
mod events;
pub(super) mod http;
mod map;
mod measuring;
mod offers;
mod onward;
mod openapi;
mod parameters;
mod places;
mod response;
mod rights;
mod survey;
mod wire;

pub use answer::{Answer, Error};
pub use command::{Command, Handle};
pub use desk::Desk;
pub use survey::{Paths, Survey};
pub use wire::Words;
