//! The connections of a replay, one after the other, from a file that may be larger than memory.
//!
//! What is played is known of all of it before it begins: how far connections are apart by a model depends on the whole set, and so do
//! the forecast and the direction of more data. So the file is read three times: for the round-trip times, for the rest of the
//! [`Survey`], and by the hosts, which hold what is open and nothing else. That needs a file in the order of starts, as
//! `isobath trace synth` writes it. Any other is read as a whole and sorted.

use crate::replay::forecast::{Forecast, Forecaster};
use crate::replay::totals::Totals;
use crate::replay::workload::{Host, Part, Rewriter, Workload, check_count};
use crate::trace::{Input, beginnings};
use anyhow::ensure;
use path::Assigned;
use schema::replay::plan::Plan;
use std::time::Duration;
use std::vec::IntoIter;
use vectors::model::Transform;
use vectors::model::rtt::Summary;
use vectors::{Transport, Vector};

/// More packets than this take hours.
const MOST_PACKETS: u64 = 10_000_000_000;
/// The longest replay: queues are looked at a hundred times a second, also of a week in which nothing happens.
const LONGEST: Duration = Duration::from_secs(7 * 86_400);

/// What is known of a replay before it begins.
pub struct Survey {
    /// In all.
    pub totals: Totals,
    /// What the connections will ask for.
    pub forecast: Forecast,
    /// How far they are apart. [`sim::tcp`]'s numbers of flows are twice those of the parts, and one more on the way back.
    pub delays: Assigned,
    /// How to read the file once more.
    reading: Reading,
}

/// How the file is read.
enum Reading {
    /// In order.
    Stream(Transform),
    /// As a whole.
    Whole,
}

impl Survey {
    /// Of the vectors that are played by `plan`. `look` is called whenever one has been read, which is twice each.
    ///
    /// # Errors
    /// When the file cannot be read, holds more vectors than can be numbered, or more than can be played; when a model did not conserve
    /// what it must; and those of `look`.
    pub fn of(plan: &Plan, mut look: impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<Self> {
        let set = Set::read(plan, &mut look)?;
        let reading = if set.is_in_order {
            Reading::Stream(plan.models.transform(&set.rtts, plan.seed))
        } else {
            Reading::Whole
        };
        let mut forecaster = Forecaster::new(until(plan));
        let mut delays = Vec::new();
        for part in reading.parts(plan)? {
            let part = part?;
            look()?;
            delays.extend(ways(plan, &part));
            forecaster.enter(&part);
        }
        check_work(&forecaster)?;
        let (totals, forecast) = forecaster.finish();
        Ok(Self {
            totals,
            forecast,
            delays: Assigned::settled(delays),
            reading,
        })
    }

    /// The connections, by start.
    ///
    /// # Errors
    /// As [`Survey::of`]; while parts are read, too, when the file has changed and is in another order now.
    pub fn parts(&self, plan: &Plan) -> anyhow::Result<Parts> {
        self.reading.parts(plan)
    }
}

/// The delays on the way there and back.
fn ways(plan: &Plan, part: &Part) -> [Duration; 2] {
    let mut ways = plan.rtt_at.split(part.vector.min_rtt.unwrap_or_default());
    if part.initiator == Host::Server {
        ways.reverse();
    }
    ways
}

/// Refuses what would not come to an end.
fn check_work(forecaster: &Forecaster) -> anyhow::Result<()> {
    let (packets, last_end) = forecaster.work();
    ensure!(
        packets <= MOST_PACKETS,
        "the vectors need about {:.1e} packets, and at most {:.0e} are simulated - play a part of them, by a shorter --duration",
        packets as f64,
        MOST_PACKETS as f64
    );
    let days = |span: Duration| span.as_secs().div_ceil(86_400);
    ensure!(
        last_end <= LONGEST,
        "the last connection is over on day {}, and at most {} days are simulated - end the replay by a shorter --duration",
        days(last_end),
        days(LONGEST)
    );
    Ok(())
}

/// When nothing starts any more.
fn until(plan: &Plan) -> Option<Duration> {
    plan.duration.map(|duration| duration.0)
}

/// What the vectors are as a set.
#[derive(Default)]
struct Set {
    rtts: Summary,
    is_in_order: bool,
}

impl Set {
    fn read(plan: &Plan, mut look: impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<Self> {
        let mut set = Self {
            is_in_order: true,
            ..Self::default()
        };
        let (mut count, mut latest) = (0, Duration::ZERO);
        beginnings(&plan.vectors, |vector| {
            set.is_in_order &= vector.start >= latest;
            latest = vector.start;
            look()?;
            if until(plan).is_some_and(|until| vector.start >= until) {
                return Ok(());
            }
            count += 1;
            // No flow of UDP knows its round-trip time: it gets what the model says of connections.
            if vector.transport == Transport::Tcp {
                set.rtts.enter(vector.min_rtt);
            }
            Ok(())
        })?;
        check_count(count, &plan.vectors)?;
        Ok(set)
    }
}

impl Reading {
    fn parts(&self, plan: &Plan) -> anyhow::Result<Parts> {
        match self {
            Self::Stream(transform) => Ok(Parts::Stream(Box::new(Stream {
                input: Input::open(&plan.vectors)?,
                until: until(plan),
                rewriter: Rewriter::new(transform.clone()),
                latest: Duration::ZERO,
                second: None,
            }))),
            Self::Whole => {
                let workload = Workload::read(&plan.vectors, &plan.models, until(plan), plan.seed)?;
                Ok(Parts::Whole(workload.parts.into_iter()))
            }
        }
    }
}

/// Connections and flows by start.
pub enum Parts {
    /// Read as they are asked for.
    Stream(Box<Stream>),
    /// Read before.
    Whole(IntoIter<Part>),
}

/// See [`Parts::Stream`].
pub struct Stream {
    input: Input,
    until: Option<Duration>,
    rewriter: Rewriter,
    /// When the vector before started.
    latest: Duration,
    /// Of the two parts of the vector before.
    second: Option<Part>,
}

impl Iterator for Parts {
    type Item = anyhow::Result<Part>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Stream(stream) => stream.part().transpose(),
            Self::Whole(parts) => parts.next().map(Ok),
        }
    }
}

impl Stream {
    fn part(&mut self) -> anyhow::Result<Option<Part>> {
        if let Some(second) = self.second.take() {
            return Ok(Some(second));
        }
        loop {
            let vector = self.input.next().transpose()?;
            let in_time = |vector: &Vector| self.until.is_none_or(|until| vector.start < until);
            let Some(vector) = vector.filter(in_time) else {
                self.rewriter.check()?;
                return Ok(None);
            };
            anyhow::ensure!(
                vector.start >= self.latest,
                "the vectors have changed since they were first read - replay them again"
            );
            self.latest = vector.start;
            let mut parts = self.rewriter.parts(vector);
            let first = parts.next();
            self.second = parts.next();
            if first.is_some() {
                return Ok(first);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Format, Output};
    use schema::replay::plan::{Models, RttAt, Way};
    use std::path::Path;
    use units::{FlowId, Span};
    use vectors::model::Structure;
    use vectors::model::rtt::Model;
    use vectors::{Body, Loss, Side, Turn};

    fn vector(number: u64, start_ms: u64) -> Vector {
        let turn = |side, bytes| Turn {
            side,
            bytes,
            wait: Duration::from_millis(number % 3),
        };
        Vector {
            transport: if number % 5 == 4 {
                Transport::Udp
            } else {
                Transport::Tcp
            },
            start: Duration::from_millis(start_ms),
            ids: [0; 2],
            windows: [65_535; 2],
            min_rtt: (number % 7 != 6).then(|| Duration::from_millis(10 + number)),
            loss: [Loss::NONE; 2],
            mss: None,
            body: Body::Sequential {
                turns: vec![turn(Side::Initiator, 1 + number), turn(Side::Acceptor, 200)],
                tail: None,
            },
        }
    }

    fn plan(file: &Path, structure: Structure, rtt: Model, until_ms: Option<u64>) -> Plan {
        Plan {
            vectors: file.to_owned(),
            models: Models {
                structure,
                rtt,
                ..Models::default()
            },
            duration: until_ms.map(|ms| Span(Duration::from_millis(ms))),
            warm_up: Span::default(),
            cool_down: Span::default(),
            rtt_at: RttAt::default(),
            add_rtt: false,
            bottleneck: None,
            constrained: false,
            forward: Way::Down,
            congestion_control: None,
            initial_window: None,
            capture: false,
            udp: false,
            seed: 1,
        }
    }

    /// What is read piece by piece is what is read as a whole, in either order of the file.
    #[test]
    fn parts_delays_and_forecast_are_those_of_the_whole() {
        let dir = tempfile::tempdir().unwrap();
        for in_order in [true, false] {
            let file = dir.path().join(format!("{in_order}.parquet"));
            let mut output = Output::create(&file, Format::Parquet, true).unwrap();
            for number in 0..40 {
                // 7 and 40 have no common factor; two start together.
                let place = if in_order { number } else { number * 7 % 40 };
                output.vector(vector(number, place / 2 * 10)).unwrap();
            }
            output.finish().unwrap();
            for structure in [Structure::ATBT, Structure::Harpoon] {
                for rtt in [Model::Usernet, Model::Median, Model::Uniform] {
                    for until in [None, Some(95)] {
                        same(&plan(&file, structure, rtt, until), in_order);
                    }
                }
            }
        }
    }

    fn same(plan: &Plan, in_order: bool) {
        let duration = plan.duration.map(|Span(duration)| duration);
        let whole = Workload::read(&plan.vectors, &plan.models, duration, plan.seed).unwrap();
        let survey = Survey::of(plan, || Ok(())).unwrap();
        assert_eq!(matches!(survey.reading, Reading::Stream(_)), in_order);
        assert_eq!(survey.totals, whole.totals());
        assert_eq!(survey.forecast, Forecast::of(&whole, duration));
        let parts: Vec<Part> = survey.parts(plan).unwrap().map(Result::unwrap).collect();
        assert_eq!(parts.len(), whole.parts.len());
        assert!(!parts.is_empty());
        for (number, (part, expected)) in (0..).zip(parts.iter().zip(&whole.parts)) {
            assert_eq!(part.vector, expected.vector);
            assert_eq!(part.initiator, expected.initiator);
            let delay = |flow| survey.delays.get(FlowId(flow)).unwrap();
            assert_eq!(
                delay(2 * number) + delay(2 * number + 1),
                part.vector.min_rtt.unwrap()
            );
        }
    }
}
