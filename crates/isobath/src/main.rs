//! Isobath: the workbench for network paths. See `isobath --help`, and ARCHITECTURE.md for the map.
#![forbid(unsafe_code)]

mod batch;
mod calibrate;
mod cli;
mod flent_record;
mod live;
mod register;
mod sweep;
mod virtual_time;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
