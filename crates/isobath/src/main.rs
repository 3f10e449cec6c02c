//! Isobath: the workbench for network paths. See `isobath --help`, and ARCHITECTURE.md for the map.
#![forbid(unsafe_code)]

mod bar;
mod batch;
mod btc;
mod calibrate;
mod cli;
mod compare;
mod dialogue;
mod dumbbell;
mod estimate;
mod experiment;
mod hello;
mod host;
mod instrument;
mod link;
mod live;
mod longest;
mod manager;
mod mbm;
mod medianet;
mod page;
#[cfg(test)]
mod published;
mod remarks;
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
