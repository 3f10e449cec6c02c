//! What a stream of probes says of a path, as pure functions and state machines.
#![forbid(unsafe_code)]
