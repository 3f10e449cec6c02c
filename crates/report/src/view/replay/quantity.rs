//! One measured quantity: the figures that the literature tells of it, and its distribution down to the rarest value.

use crate::distribution::{Curve, Values};
use crate::number::short;
use schema::replay::Spread;
use serde::{Deserialize, Serialize};
use stats::quantile;

/// A quantity, in the unit that its field's name ends in.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Quantity {
    pub(crate) n: u64,
    pub(crate) mean: f64,
    pub(crate) min: f64,
    pub(crate) p50: f64,
    pub(crate) p80: f64,
    pub(crate) p90: f64,
    pub(crate) p95: f64,
    pub(crate) p99: f64,
    pub(crate) max: f64,
    pub(crate) curve: Curve,
}

impl Quantity {
    /// Of ascending values, which stand for `n`; `None` without any.
    fn of_sorted(sorted: &[f64], n: u64, mean: f64) -> Option<Self> {
        let at = |q| quantile(sorted, q).map(short);
        Some(Self {
            n,
            mean: short(mean),
            min: at(0.0)?,
            p50: at(0.5)?,
            p80: at(0.8)?,
            p90: at(0.9)?,
            p95: at(0.95)?,
            p99: at(0.99)?,
            max: at(1.0)?,
            curve: Curve::with_tail(sorted),
        })
    }

    /// Takes the figures of all values from the summary, where `told` is of as many: here they are of those that were kept.
    pub(crate) fn as_told(&mut self, told: &Spread) {
        let of = &told.of;
        if of.n != self.n {
            return;
        }
        for (figure, exact) in [
            (&mut self.mean, of.mean),
            (&mut self.min, of.min),
            (&mut self.p50, of.p50),
            (&mut self.p80, told.p80),
            (&mut self.p90, of.p90),
            (&mut self.p95, of.p95),
            (&mut self.p99, of.p99),
            (&mut self.max, of.max),
        ] {
            *figure = short(exact);
        }
    }

    /// Of finite values in any order.
    pub(crate) fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_unstable_by(f64::total_cmp);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        Self::of_sorted(&values, values.len() as u64, mean)
    }
}

/// Collects a quantity in bounded space.
#[derive(Clone, Debug, Default)]
pub(crate) struct Collector {
    values: Values,
    sum: f64,
}

impl Collector {
    pub(crate) fn push(&mut self, v: f64) {
        if v.is_finite() {
            self.sum += v;
            self.values.push(v);
        }
    }

    /// Milliseconds between two instants, when both are known and in order.
    pub(crate) fn push_span(&mut self, from_ns: Option<u64>, to_ns: Option<u64>) {
        let span = from_ns
            .zip(to_ns)
            .and_then(|(from, to)| to.checked_sub(from));
        if let Some(span) = span {
            self.push(crate::number::ms(span));
        }
    }

    pub(crate) fn quantity(&self) -> Option<Quantity> {
        let n = self.values.n;
        // The mean of a heavy tail is made by its rarest values, so it is that of all, not of those that are kept.
        Quantity::of_sorted(&Values::sorted(&[&self.values]), n, self.sum / n as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_many_values_are_the_summarys() {
        // More than are kept.
        let values: Vec<f64> = (0..1_000_003_u32).map(|v| f64::from(v).sqrt()).collect();
        let mut collector = Collector::default();
        for value in &values {
            collector.push(*value);
        }
        let kept = collector.quantity().unwrap();
        let mut quantity = kept.clone();
        quantity.as_told(&Spread::of(&values[1..]).unwrap());
        assert_eq!(quantity.p50.to_bits(), kept.p50.to_bits());
        let told = Spread::of(&values).unwrap();
        quantity.as_told(&told);
        assert_eq!(quantity.p50.to_bits(), short(told.of.p50).to_bits());
        assert_eq!(quantity.p80.to_bits(), short(told.p80).to_bits());
        assert!(quantity.max >= kept.max && quantity.n == told.of.n);
    }
}
