//! The program as a library: its command line ([`main`]), and what other programs may call in their own process ([`embed`]).
#![forbid(unsafe_code)]

mod batch;
mod cli;
pub mod embed;
mod flent_record;
mod register;
mod sweep;

pub use cli::main;
