//! What a set of vectors is like: the tables and distributions by which D describes a trace (its chapter 3).
//!
//! > we must first analyze and understand the characteristics of the input traffic
//!
//! (D, section 3.1.) A [`Describer`] takes vectors one by one and keeps a [`Sketch`](crate::sketch::Sketch) of each
//! [`Measure`], so that an hour of millions of connections takes some megabytes; describers of parts add up. Its
//! [`Description`] is a value with units that becomes JSON. Quantiles are right to
//! [one part in a thousand](crate::sketch::Sketch::RELATIVE_ERROR); counts, sums, means and extremes are exact.
//!
//! Several traces are compared by putting their descriptions side by side, and by [`Describer::compare`], which says for each
//! measure how far the two distributions are apart.
//!
//! ```
//! use isobath_vectors::describe::{Describer, Measure};
//!
//! let set: Vec<isobath_vectors::Vector> = Vec::new();
//! let mut describer = Describer::default();
//! for vector in &set {
//!     describer.enter(vector);
//! }
//! let description = describer.describe("empty");
//! assert_eq!(description.connections.all, 0);
//! assert!(!description.quantities.contains_key(&Measure::RequestBytes));
//! ```

mod compare;
mod course;
mod description;
mod measure;
mod observe;
mod quantity;
mod udp;

pub use compare::Difference;
pub use course::Course;
pub use description::{Amounts, Description, Shares, Udp};
pub use measure::{Measure, Unit};
pub use observe::Describer;
pub use quantity::Quantity;

#[cfg(test)]
mod tests;
