//! A world in virtual time: hosts and links over `path` and `transport`.
#![forbid(unsafe_code)]
