//! Isobath: the workbench for network paths. See `isobath --help`, and ARCHITECTURE.md for the map.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    isobath::main()
}
