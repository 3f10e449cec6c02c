//! From description to pipeline.

use super::{CrossSpec, QueueSpec, Spec, StageSpec};
use crate::random::seed_at;
use crate::{
    Assigned, Bernoulli, Blackhole, ConnectionDelay, ConstantRate, Delay, DelayModel, Distribution,
    DscpTable, Duplicate, EcnChange, Element, Error, FifoDelay, Fixed, FlowDelay, GilbertElliott,
    HoldBack, Jitter, Link, Listed, Loss, LossProcess, Pipeline, Remark, Service, Shared,
    SteadyDelay, TokenBucket, Trace, TraceRate,
};
use std::str::FromStr;
use units::{Bytes, Rate, Span};

/// Gives the text of the trace that a description names, or says why it cannot.
pub type Resolver<'a> =
    &'a dyn Fn(&str) -> Result<String, Box<dyn std::error::Error + Send + Sync>>;

impl Spec {
    /// The pipeline that this path describes. Each stage draws its chance from `seed` and its
    /// position. `resolver` gives the text of traces; `delays` are those of `connection_delay`.
    ///
    /// # Errors
    ///
    /// [`Error`] names the first stage that contradicts itself, or whose trace cannot be had.
    pub fn build<B: Clone + Send + 'static>(
        &self,
        seed: u64,
        resolver: Resolver<'_>,
        delays: &Assigned,
    ) -> Result<Pipeline<B>, Error> {
        let site = |index| Site::new(index, seed, resolver, delays);
        let stages = self.0.iter().enumerate();
        let stages =
            stages.map(|(index, stage)| Ok((stage.kind().to_owned(), site(index).element(stage)?)));
        Ok(Pipeline::new(stages.collect::<Result<_, Error>>()?))
    }

    /// The same for simulations: the same packets leave at the same instants, for less work. Links with their delays are one stage
    /// where that can be ([`FifoDelay`]), and the pipeline is lazy ([`Pipeline::be_lazy`]).
    ///
    /// # Errors
    ///
    /// As [`Spec::build`].
    pub fn build_lazy<B: Clone + Send + 'static>(
        &self,
        seed: u64,
        resolver: Resolver<'_>,
        delays: &Assigned,
    ) -> Result<Pipeline<B>, Error> {
        let site = |index| Site::new(index, seed, resolver, delays);
        let mut stages = Vec::new();
        let mut rest = self.0.as_slice();
        while let [stage, others @ ..] = rest {
            let here = site(self.0.len() - rest.len());
            if let Some((link, behind)) = here.fifo_delay(rest)? {
                stages.push(("rate".to_owned(), link));
                rest = behind;
            } else {
                stages.push((stage.kind().to_owned(), here.element(stage)?));
                rest = others;
            }
        }
        let mut pipeline = Pipeline::new(stages);
        pipeline.be_lazy();
        Ok(pipeline)
    }
}

/// Where a stage is built, and with what.
pub(super) struct Site<'a> {
    /// Position in the path, from 1.
    stage: usize,
    pub(super) seed: u64,
    resolver: Resolver<'a>,
    delays: &'a Assigned,
}

/// A built stage, or what is wrong with it.
type Built<B> = Result<Box<dyn Element<B>>, Error>;

/// Stages as one element, if they can be, and the stages behind them.
type Fused<'s, B> = Option<(Box<dyn Element<B>>, &'s [StageSpec])>;

impl<'a> Site<'a> {
    fn new(index: usize, seed: u64, resolver: Resolver<'a>, delays: &'a Assigned) -> Self {
        Self {
            stage: index + 1,
            seed: seed_at(seed, index),
            resolver,
            delays,
        }
    }
}

impl Site<'_> {
    /// A link and the delays around it as one, if `stages` begin like that; and the stages behind them.
    fn fifo_delay<'s, B: Clone + Send + 'static>(
        &self,
        stages: &'s [StageSpec],
    ) -> Result<Fused<'s, B>, Error> {
        let (ahead, rest) = self.delay(stages);
        let [
            StageSpec::Rate {
                rate,
                queue: QueueSpec::Fifo(limit),
                cross: None,
            },
            rest @ ..,
        ] = rest
        else {
            return Ok(None);
        };
        let link = Site {
            stage: self.stage + usize::from(ahead.is_some()),
            ..*self
        };
        link.check_limit(*limit)?;
        let (behind, rest) = self.delay(rest);
        let link = FifoDelay::new(ConstantRate::new(*rate), *limit, [ahead, behind]);
        Ok(Some((Box::new(link), rest)))
    }

    /// The delay that `stages` begin with, if it is the same for all packets of a flow; and the stages behind it.
    fn delay<'s>(&self, stages: &'s [StageSpec]) -> (Option<SteadyDelay>, &'s [StageSpec]) {
        match stages {
            [StageSpec::Delay { delay }, rest @ ..] => {
                (Some(SteadyDelay::Fixed(Fixed::new(delay.0))), rest)
            }
            [StageSpec::ConnectionDelay {}, rest @ ..] => {
                let model = ConnectionDelay::new(self.delays.clone());
                (Some(SteadyDelay::Connection(model)), rest)
            }
            _ => (None, stages),
        }
    }

    fn element<B: Clone + Send + 'static>(&self, stage: &StageSpec) -> Built<B> {
        let seed = self.seed;
        Ok(match *stage {
            StageSpec::Rate {
                rate,
                ref queue,
                ref cross,
            } => self.link(ConstantRate::new(rate), queue, Some(rate), cross.as_ref())?,
            StageSpec::Trace {
                ref trace,
                ref queue,
                ref cross,
            } => {
                let trace: Trace = self.read(trace)?;
                let rate = trace.mean_rate();
                self.link(TraceRate::new(trace), queue, rate, cross.as_ref())?
            }
            StageSpec::TokenBucket {
                rate,
                burst,
                peak,
                ref queue,
                ref cross,
            } => {
                let bucket = self.bucket(rate, burst, peak)?;
                self.link(bucket, queue, Some(rate), cross.as_ref())?
            }
            StageSpec::Delay { delay } => delayed(Fixed::new(delay.0)),
            StageSpec::Jitter {
                delay,
                jitter,
                distribution,
                reorder,
            } => {
                self.check_jitter(delay, jitter, distribution)?;
                delayed(Jitter::new(delay.0, jitter.0, distribution, reorder, seed))
            }
            StageSpec::FlowDelay { min, max } => {
                self.check(min <= max, "min is above max - write the smaller as min")?;
                delayed(FlowDelay::uniform(min.0, max.0, seed))
            }
            StageSpec::ConnectionDelay {} => delayed(ConnectionDelay::new(self.delays.clone())),
            StageSpec::Loss { probability } => lossy(Bernoulli::new(probability.get(), seed)),
            StageSpec::GilbertElliott {
                p,
                r,
                loss_good,
                loss_bad,
            } => {
                let [p, r, good, bad] = [p, r, loss_good, loss_bad].map(f64::from);
                lossy(GilbertElliott::new(p, r, good, bad, seed))
            }
            StageSpec::Drop { ref packets } => {
                self.check_drop(packets)?;
                lossy(Listed::new(packets))
            }
            StageSpec::Blackhole { family } => Box::new(Blackhole::new(family)),
            StageSpec::Reorder { probability, delay } => {
                delayed(HoldBack::new(probability.get(), delay.0, seed))
            }
            StageSpec::Duplicate { probability } => {
                Box::new(Duplicate::new(probability.get(), seed))
            }
            StageSpec::Remark {
                ref dscp,
                ecn,
                probability,
            } => {
                self.check_remark(dscp, ecn)?;
                Box::new(Remark::new(dscp, ecn, probability, seed))
            }
        })
    }

    /// `rate` is what the service carries on average.
    fn link<B: Send + 'static>(
        &self,
        service: impl Service + 'static,
        queue: &QueueSpec,
        rate: Option<Rate>,
        cross: Option<&CrossSpec>,
    ) -> Built<B> {
        Ok(match cross {
            None => Box::new(Link::new(service, self.queue(queue, rate)?)),
            Some(cross) => {
                let source = self.source(cross)?;
                Box::new(Shared::new(service, self.queue(queue, rate)?, source))
            }
        })
    }

    /// What the text of that name says.
    pub(super) fn read<T: FromStr<Err = Error>>(&self, name: &str) -> Result<T, Error> {
        let text = (self.resolver)(name).map_err(|reason| Error::TraceUnknown {
            stage: self.stage,
            name: name.to_owned(),
            reason: reason.to_string(),
        })?;
        text.parse().map_err(|source| Error::TraceBad {
            stage: self.stage,
            name: name.to_owned(),
            source: Box::new(source),
        })
    }

    fn bucket(&self, rate: Rate, burst: Bytes, peak: Option<Rate>) -> Result<TokenBucket, Error> {
        self.check(
            burst > Bytes::ZERO,
            "burst is zero - write at least the size of one packet, such as 1500B",
        )?;
        self.check(
            peak.is_none_or(|peak| peak >= rate),
            "peak is below rate - write a peak above the rate, or leave it out",
        )?;
        Ok(TokenBucket::new(rate, burst, peak))
    }

    fn check_jitter(&self, delay: Span, jitter: Span, shape: Distribution) -> Result<(), Error> {
        self.check(
            shape != Distribution::Uniform || jitter <= delay,
            "jitter is above delay - a uniform delay would be negative; write a larger delay",
        )
    }

    fn check_drop(&self, packets: &[u64]) -> Result<(), Error> {
        self.check(
            !packets.is_empty() && !packets.contains(&0),
            "packets are numbered from 1, and at least one is to be lost - write, for instance, packets = [3, 7]",
        )
    }

    fn check_remark(&self, dscp: &DscpTable, ecn: Option<EcnChange>) -> Result<(), Error> {
        self.check(
            !dscp.is_empty() || ecn.is_some(),
            "it changes nothing - write a table such as dscp = { EF = \"CS0\", \"*\" = \"CS0\" }, or ecn = \"bleach\"",
        )
    }

    pub(super) fn check(&self, holds: bool, what: &'static str) -> Result<(), Error> {
        let stage = self.stage;
        holds.then_some(()).ok_or(Error::Value { stage, what })
    }
}

fn delayed<B: Send + 'static>(model: impl DelayModel + 'static) -> Box<dyn Element<B>> {
    Box::new(Delay::new(model))
}

fn lossy<B>(process: impl LossProcess + 'static) -> Box<dyn Element<B>> {
    Box::new(Loss::new(process))
}
