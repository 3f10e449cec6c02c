//! Records as one page of figures that explain themselves.
#![forbid(unsafe_code)]
