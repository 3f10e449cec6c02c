//! What ICMP errors quote of the packets that caused them, and the acknowledgements that they make.

mod answers;
mod quote;

pub(crate) use answers::{Answers, Counts, acknowledgement};
pub(crate) use quote::{Quotes, Verdict, verdict};
