//! Records in and out of Flent's data files.
#![forbid(unsafe_code)]
