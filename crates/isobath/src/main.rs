//! Isobath: the workbench for network paths. See `isobath --help`, and ARCHITECTURE.md for the map.
#![forbid(unsafe_code)]

mod batch;
mod btc;
mod calibrate;
mod cli;
mod compare;
mod dumbbell;
mod estimate;
mod experiment;
mod kit;
mod live;
mod manager;
mod mbm;
mod medianet;
mod replay;
mod rrul;
mod serve;
mod sim;
mod trace;
mod trial;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
