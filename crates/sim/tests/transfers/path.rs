//! A path by its four figures.

use ::path::{Limit, Pipeline, Probability, QueueSpec, Spec, StageSpec};
use isobath_sim::{Addressed, End, Observer, Plan, Transfers, pipeline};
use std::time::Duration;
use transport::Options;
use transport::wire::Datagram;
use units::{Bytes, Rate, Span};

/// One bottleneck and a round trip.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    pub(crate) rate: Rate,
    pub(crate) rtt: Duration,
    /// Share of the data packets that are lost behind the bottleneck.
    pub(crate) loss: f64,
    /// The queue in products of rate and round trip, at least two packets.
    pub(crate) queue: f64,
}

impl Path {
    pub(crate) fn new(rate: &str, rtt_ms: u64, loss: f64, queue: f64) -> Self {
        let (rate, rtt) = (rate.parse().unwrap(), Duration::from_millis(rtt_ms));
        Self {
            rate,
            rtt,
            loss,
            queue,
        }
    }

    pub(crate) fn up(&self, seed: u64) -> Pipeline<Addressed<Datagram>> {
        let bytes = self.rate.bytes_in(self.rtt) as f64 * self.queue;
        let limit = Limit::bytes(Bytes::new((bytes as u64).max(3_000)));
        let stages = vec![
            StageSpec::Rate {
                rate: self.rate,
                queue: QueueSpec::Fifo(limit),
                cross: None,
            },
            StageSpec::Delay {
                delay: Span(self.rtt / 2),
            },
            StageSpec::Loss {
                probability: Probability::try_from(self.loss).unwrap(),
            },
        ];
        pipeline(&Spec(stages), seed).unwrap()
    }

    pub(crate) fn down(&self) -> Pipeline<Addressed<Datagram>> {
        let stages = vec![StageSpec::Delay {
            delay: Span(self.rtt / 2),
        }];
        pipeline(&Spec(stages), 0).unwrap()
    }

    /// One transfer over this path, before it begins.
    pub(crate) fn transfer<O: Observer + Clone>(
        &self,
        options: &Options,
        end: End,
        seed: u64,
        observer: O,
    ) -> Transfers<O> {
        let plan = Plan {
            seed,
            ..Plan::new(options.clone(), end)
        };
        Transfers::duplex(
            [(plan, [observer.clone(), observer])],
            self.up(seed),
            self.down(),
        )
    }

    /// Throughput of one transfer, Mbit/s.
    pub(crate) fn throughput(&self, options: &Options, end: End, seed: u64) -> f64 {
        let mut transfers = self.transfer(options, end, seed, ());
        transfers.run();
        transfers.reports()[0].throughput_mbps().unwrap_or(0.0)
    }
}
