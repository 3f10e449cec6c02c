//! Bulk transfer capacity: what standard congestion control gets over a path, by a sender whose every rule is known.
//!
//! Sources: M. Allman, *Measuring End-to-End Bulk Transfer Capacity* (2001), whose tool is *cap*; RFC 3148, a framework for
//! such measurements; M. Mathis's TReno. The rules themselves are in the crate `transport`.

pub(crate) mod tables;
