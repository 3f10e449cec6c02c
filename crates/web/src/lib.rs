//! Web pages that are served, loaded and timed.
#![forbid(unsafe_code)]
