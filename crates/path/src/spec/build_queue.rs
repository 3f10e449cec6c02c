//! From description to queue.

use super::QueueSpec;
use super::build::Site;
use crate::{
    CoDel, Error, Fifo, FqCoDel, FqCoDelConfig, Limit, Pie, PieConfig, Queue, Red, RedConfig,
};
use std::time::Duration;
use units::{Bytes, Rate, Span};

/// Octets of the typical small packet that RED's average ages by while the queue is empty.
const SMALL_PACKET: u64 = 500;
/// The least quantum: below it a full packet would take many rounds of all queues.
const LEAST_QUANTUM: Bytes = Bytes::new(256);
/// The most queues of `fq_codel`: what bounds its memory.
const MOST_FLOWS: u32 = 65_536;
/// The least time between PIE's corrections: what bounds its work.
const LEAST_UPDATE: Span = Span(Duration::from_micros(100));

impl Site<'_> {
    /// `rate` is the link's, for RED's idle time.
    pub(super) fn queue<B: Send + 'static>(
        &self,
        queue: &QueueSpec,
        rate: Option<Rate>,
    ) -> Result<Box<dyn Queue<B>>, Error> {
        self.check_limit(queue.limit())?;
        Ok(match *queue {
            QueueSpec::Fifo(limit) => Box::new(Fifo::new(limit)),
            QueueSpec::Red(config) => {
                self.check_red(config)?;
                let packet_time = rate.map_or(Duration::ZERO, |rate| rate.time_for(SMALL_PACKET));
                Box::new(Red::new(config, packet_time, self.seed))
            }
            QueueSpec::CoDel(config) => {
                self.check_codel(config.target, config.interval)?;
                Box::new(CoDel::new(config))
            }
            QueueSpec::FqCoDel(config) => {
                self.check_fq_codel(config)?;
                Box::new(FqCoDel::new(config, self.seed))
            }
            QueueSpec::Pie(config) => {
                self.check_pie(config)?;
                Box::new(Pie::new(config, self.seed))
            }
        })
    }

    /// A queue that nothing can enter is a mistake.
    pub(super) fn check_limit(&self, limit: Limit) -> Result<(), Error> {
        self.check(
            limit.packets != Some(0) && limit.bytes != Some(Bytes::ZERO),
            "the queue's limit is zero - write at least packets = 1",
        )
    }

    fn check_red(&self, config: RedConfig) -> Result<(), Error> {
        self.check(
            config.min < config.max,
            "min is not below max - write the two thresholds in packets, such as 5 and 15",
        )?;
        self.check(
            config.weight.get() > 0.0,
            "weight is zero - the average would never move; write a weight such as 0.002",
        )
    }

    fn check_codel(&self, target: Span, interval: Span) -> Result<(), Error> {
        self.check(
            target < interval,
            "target is not below interval - write a target of 5 to 10 % of the interval",
        )
    }

    fn check_pie(&self, config: PieConfig) -> Result<(), Error> {
        self.check(
            config.target > Span::default(),
            "target is zero - write the delay to hold, such as 15ms",
        )?;
        self.check(
            config.update >= LEAST_UPDATE,
            "update is below 100us - write a longer time, such as 15ms",
        )
    }

    fn check_fq_codel(&self, config: FqCoDelConfig) -> Result<(), Error> {
        self.check_codel(config.target, config.interval)?;
        self.check(
            config.quantum >= LEAST_QUANTUM,
            "quantum is below 256B - write the size of a full packet, such as 1514B",
        )?;
        self.check(
            (1..=MOST_FLOWS).contains(&config.flows),
            "flows is not from 1 to 65536 - write a number of queues, such as 1024",
        )
    }
}
