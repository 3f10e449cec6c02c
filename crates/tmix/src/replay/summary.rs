//! The figures of a replay, from the rows of its tables as they come.

mod figures;
mod udp;

pub use figures::Figures;

#[cfg(test)]
mod tests;
