//! The figures of a trial, from its tables alone.

use super::ledger::SECOND;
use super::plan::{Plan, Probes};
use super::prober::CUT;
use super::tables::{EstimateRow, KINDS, LossRow, SourceRow, TenthRow, ThroughputRow};
use record::Record;
use schema::LinkTruth;
use schema::estimate::tables::TrainRow;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::quantile;
use units::Rate;

/// Seconds at the beginning that figures leave out: TCP looks for its window.
const SETTLING_S: u64 = 2;
/// The application holds its rate in a second in which it comes this close to it.
const CLOSE: f64 = 0.05;

/// All rows of a run.
#[derive(Debug, Default)]
pub struct Tables {
    /// What the bottleneck carried, by kind and second.
    pub throughput: Vec<ThroughputRow>,
    /// What the receiving application read, second by second.
    pub source: Vec<SourceRow>,
    /// Estimations of the available bandwidth.
    pub estimates: Vec<EstimateRow>,
    /// Trains that were sent.
    pub trains: Vec<TrainRow>,
    /// Probes that were lost at the bottleneck.
    pub losses: Vec<LossRow>,
    /// Probes and losses by tenth of the train.
    pub tenths: Vec<TenthRow>,
}

impl Tables {
    /// Those of a record.
    ///
    /// # Errors
    /// When one cannot be read.
    pub fn read(record: &Record) -> Result<Self, record::Error> {
        Ok(Self {
            throughput: record.rows()?,
            source: record.rows()?,
            estimates: record.rows()?,
            trains: record.rows()?,
            losses: record.rows()?,
            tenths: record.rows()?,
        })
    }
}

/// What a trial found.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Summary {
    /// What came of it, in a sentence or two.
    pub sentence: String,
    /// Who measured beside the application.
    pub probes: Probes,
    /// Whether the application's packets rode on the probes.
    pub riding: bool,
    /// The bottleneck's rate; null where the record does not tell.
    pub capacity_mbps: Option<f64>,
    /// Whole seconds that the figures are of: all but the first two.
    pub seconds: u64,
    /// What the bottleneck carried of whom, after losses; null without a second.
    pub throughput_mbps: Option<Throughput>,
    /// What the receiving application read; null without a second.
    pub source: Option<Source>,
    /// Estimations; null where nothing was estimated.
    pub estimates: Option<Estimates>,
    /// Trains that were sent.
    pub trains: u64,
    /// Their probes that came to the bottleneck's queue.
    pub probes_sent: u64,
    /// Of these, those that were lost there.
    pub probes_lost: u64,
    /// Lost probes that carried a packet of the application's, or a piece of one.
    pub riders_lost: u64,
    /// Probes and losses by tenth of the train.
    pub by_tenth: Vec<Place>,
    /// What the lab's links carried, queued and dropped.
    pub links: Vec<LinkTruth>,
}

/// Rates on the bottleneck.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Throughput {
    /// The application's packets that went by themselves, headers of the overlay included.
    pub source: f64,
    /// Its packets inside probes.
    pub rider: f64,
    /// Probes without their riders: headers and padding, what measuring adds.
    pub probe: f64,
    /// Others.
    pub cross: f64,
    /// Anything else.
    pub other: f64,
}

/// What the receiving application read in each second.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Source {
    /// At which rate the sending one writes.
    pub target_mbps: f64,
    /// The mean.
    pub mean_mbps: f64,
    /// Quantiles of the seconds.
    pub p05_mbps: f64,
    /// See `p05_mbps`.
    pub p25_mbps: f64,
    /// See `p05_mbps`.
    pub p50_mbps: f64,
    /// See `p05_mbps`.
    pub p75_mbps: f64,
    /// See `p05_mbps`.
    pub p95_mbps: f64,
    /// Share of the seconds within 5 % of the target.
    pub within_pct: f64,
    /// Share of the seconds below that.
    pub below_pct: f64,
}

/// Estimations of the available bandwidth.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Estimates {
    /// Those that had their time: not the one that the end of the run cut.
    pub n: u64,
    /// Those that came to an end at which they can be believed.
    pub completed: u64,
    /// Time in which a quarter of all were completed; null when fewer were.
    pub p25_s: Option<f64>,
    /// Time in which half of all were.
    pub p50_s: Option<f64>,
    /// Time in which three quarters of all were.
    pub p75_s: Option<f64>,
    /// How far the middle of what was found is from the truth, as a share of it: median of the completed ones, without sign; less what
    /// trains were spared by riders.
    pub error_pct: Option<f64>,
    /// The same, less the riders that would have competed with the last stream.
    pub error_stream_pct: Option<f64>,
    /// The same, less those of the last fleet, on average.
    pub error_fleet_pct: Option<f64>,
    /// The same, with riders not considered.
    pub error_uncorrected_pct: Option<f64>,
    /// Median of the same with its sign: above 0 when too much was found.
    pub bias_uncorrected_pct: Option<f64>,
    /// Median with its sign, less what trains were spared.
    pub bias_pct: Option<f64>,
}

/// A tenth of the trains that may carry.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Place {
    /// Which one, from 0 at the head.
    pub tenth: u8,
    /// Probes with something of the application's that came to the bottleneck.
    pub carrying: u64,
    /// Of these, lost there.
    pub carrying_lost: u64,
    /// Probes with nothing but padding.
    pub empty: u64,
    /// Of these, lost.
    pub empty_lost: u64,
}

/// Whether figures are of the second that begins at this moment: TCP has found its window, and the run is not over.
pub fn counts(plan: &Plan, t_ns: u64) -> bool {
    (SETTLING_S..plan.duration.0.as_secs()).contains(&(t_ns / SECOND))
}

/// The summary of a run.
pub fn summarise(
    plan: &Plan,
    tables: &Tables,
    capacity: Option<Rate>,
    links: Vec<LinkTruth>,
) -> Summary {
    let counts = |t_ns: u64| counts(plan, t_ns);
    let read = tables.source.iter().filter(|row| counts(row.t_ns));
    let mbps: Vec<f64> = read.map(|row| row.bytes as f64 * 8e-6).collect();
    let sum = |of: fn(&TrainRow) -> u32| tables.trains.iter().map(|row| u64::from(of(row))).sum();
    let tenths = (0..10).map(|tenth| Place::of(tenth, &tables.tenths));
    let source = Source::of(plan.source.as_mbps(), &mbps);
    let rows = tables.throughput.iter();
    let throughput = throughput(rows.filter(|row| counts(row.t_ns)), mbps.len());
    Summary {
        sentence: sentence(plan, source, throughput),
        probes: plan.probes,
        riding: plan.riding,
        capacity_mbps: capacity.map(Rate::as_mbps),
        seconds: mbps.len() as u64,
        throughput_mbps: throughput,
        source,
        estimates: Estimates::of(&tables.estimates),
        trains: tables.trains.len() as u64,
        probes_sent: sum(|row| row.probes),
        probes_lost: tables.losses.len() as u64,
        riders_lost: tables.losses.iter().filter(|row| row.carried).count() as u64,
        by_tenth: tenths.collect(),
        links,
    }
}

/// How the application fared, and what measuring added.
fn sentence(plan: &Plan, source: Option<Source>, throughput: Option<Throughput>) -> String {
    let Some((source, throughput)) = source.zip(throughput) else {
        return "The trial was too short to tell anything.".to_owned();
    };
    let beside = match (plan.probes, plan.riding) {
        (Probes::None, _) => "with nobody measuring".to_owned(),
        (probes, true) => format!("riding on the probes of {}", probes.name()),
        (probes, false) => format!("beside the probes of {}", probes.name()),
    };
    format!(
        "The application holds its {:.2} Mbit/s in {:.0} % of the seconds, {beside}; measuring adds {:.2} Mbit/s to the bottleneck.",
        source.target_mbps, source.within_pct, throughput.probe
    )
}

fn throughput<'a>(
    rows: impl Iterator<Item = &'a ThroughputRow>,
    seconds: usize,
) -> Option<Throughput> {
    let mut sums = [0.0; KINDS.len()];
    for row in rows {
        if let Some(kind) = KINDS.iter().position(|kind| *kind == row.kind) {
            sums[kind] += row.bytes as f64 * 8e-6 / seconds.max(1) as f64;
        }
    }
    let [source, rider, probe, cross, other] = sums;
    (seconds > 0).then_some(Throughput {
        source,
        rider,
        probe,
        cross,
        other,
    })
}

impl Source {
    /// Of what was read in each second, in Mbit/s; nothing without a second.
    pub fn of(target_mbps: f64, mbps: &[f64]) -> Option<Self> {
        let mut sorted = mbps.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| quantile(&sorted, share);
        let share = |is_meant: &dyn Fn(f64) -> bool| {
            let meant = mbps.iter().filter(|mbps| is_meant(**mbps)).count();
            meant as f64 * 100.0 / mbps.len() as f64
        };
        let [low, high] = [1.0 - CLOSE, 1.0 + CLOSE].map(|of| of * target_mbps);
        Some(Self {
            target_mbps,
            mean_mbps: mbps.iter().sum::<f64>() / mbps.len() as f64,
            p05_mbps: at(0.05)?,
            p25_mbps: at(0.25)?,
            p50_mbps: at(0.5)?,
            p75_mbps: at(0.75)?,
            p95_mbps: at(0.95)?,
            within_pct: share(&|mbps| (low..=high).contains(&mbps)),
            below_pct: share(&|mbps| mbps < low),
        })
    }
}

impl EstimateRow {
    /// How long it took, in seconds; nothing unless it came to an end at which it can be believed.
    pub fn completed_s(&self) -> Option<f64> {
        let took = self.end_ns.saturating_sub(self.t_ns) as f64 / 1e9;
        self.conclusive.then_some(took)
    }

    /// Whether it had its time.
    pub fn counts(&self) -> bool {
        self.outcome != CUT
    }

    /// The middle of what the trains alone say, less `riders`, in Mbit/s.
    fn middle(&self, riders: Option<f64>) -> Option<f64> {
        let middle = f64::midpoint(self.uncorrected_low_mbps?, self.uncorrected_high_mbps?);
        Some((middle - riders.unwrap_or(0.0)).max(0.0))
    }

    /// By how much a completed one is wrong, in per cent of the truth: corrected by what trains were spared, by the riders of the last stream and of
    /// the last fleet, not at all.
    pub fn errors_pct(&self) -> Option<[f64; 4]> {
        let truth = self
            .truth_mbps
            .filter(|truth| *truth > 0.0 && self.conclusive)?;
        let error = |middle: f64| (middle / truth - 1.0) * 100.0;
        Some([
            error(self.middle(self.spared_mbps)?),
            error(self.middle(self.competing_stream_mbps)?),
            error(self.middle(self.competing_fleet_mbps)?),
            error(self.middle(None)?),
        ])
    }
}

impl Estimates {
    /// Of all rows but those that the end of the run cut; nothing when none are left.
    pub fn of(rows: &[EstimateRow]) -> Option<Self> {
        let rows: Vec<&EstimateRow> = rows.iter().filter(|row| row.counts()).collect();
        let mut times: Vec<f64> = rows.iter().filter_map(|row| row.completed_s()).collect();
        times.sort_unstable_by(f64::total_cmp);
        let errors: Vec<[f64; 4]> = rows.iter().filter_map(|row| row.errors_pct()).collect();
        let absolute = |of: usize| median(errors.iter().map(|error| error[of].abs()));
        let bias = |of: usize| median(errors.iter().map(|error| error[of]));
        let within = |share: f64| completed_within(&times, rows.len(), share);
        (!rows.is_empty()).then(|| Self {
            n: rows.len() as u64,
            completed: times.len() as u64,
            p25_s: within(0.25),
            p50_s: within(0.5),
            p75_s: within(0.75),
            error_pct: absolute(0),
            error_stream_pct: absolute(1),
            error_fleet_pct: absolute(2),
            error_uncorrected_pct: absolute(3),
            bias_uncorrected_pct: bias(3),
            bias_pct: bias(0),
        })
    }
}

/// The time in which this share of all `n` was completed, of the times of those that were, in ascending order.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a number of rows"
)]
pub fn completed_within(times: &[f64], n: usize, share: f64) -> Option<f64> {
    let place = (share * n as f64).ceil() as usize;
    times.get(place.checked_sub(1)?).copied()
}

/// The median; none of nothing.
pub fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    quantile(&sorted, 0.5)
}

impl Place {
    fn of(tenth: u8, rows: &[TenthRow]) -> Self {
        let row = |carried| {
            let mut rows = rows.iter();
            rows.find(|row| row.tenth == tenth && row.carried == carried)
        };
        let figures = |carried| row(carried).map_or((0, 0), |row| (row.sent, row.lost));
        let ((carrying, carrying_lost), (empty, empty_lost)) = (figures(true), figures(false));
        Self {
            tenth,
            carrying,
            carrying_lost,
            empty,
            empty_lost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schema::published;

    #[test]
    fn what_is_published_about_the_record_is_true() {
        published::schema::<Summary>("trial");
        published::columns::<ThroughputRow>();
        published::columns::<SourceRow>();
        published::columns::<EstimateRow>();
        published::columns::<LossRow>();
        published::columns::<TenthRow>();
    }

    fn estimate(outcome: &'static str, seconds: u64, found: f64) -> EstimateRow {
        EstimateRow {
            t_ns: 0,
            end_ns: seconds * 1_000_000_000,
            outcome: outcome.into(),
            conclusive: outcome == "conclusive",
            uncorrected_low_mbps: Some(found),
            uncorrected_high_mbps: Some(found),
            spared_mbps: Some(2.0),
            competing_stream_mbps: Some(0.5),
            competing_fleet_mbps: Some(1.0),
            truth_mbps: Some(4.0),
            ..EstimateRow::default()
        }
    }

    /// Holds manager/measures.
    #[test]
    fn who_never_comes_to_an_end_counts_among_all() {
        let rows = [
            estimate("conclusive", 30, 6.0),
            estimate("conclusive", 20, 6.0),
            estimate("given_up", 60, 1.0),
            estimate("given_up", 60, 1.0),
            estimate("cut", 3, 1.0),
        ];
        let found = Estimates::of(&rows).unwrap();
        assert_eq!((found.n, found.completed), (4, 2));
        assert_eq!(
            (found.p25_s, found.p50_s, found.p75_s),
            (Some(20.0), Some(30.0), None)
        );
        let errors = [
            found.error_pct,
            found.error_stream_pct,
            found.error_fleet_pct,
            found.error_uncorrected_pct,
        ];
        assert_eq!(errors, [Some(0.0), Some(37.5), Some(25.0), Some(50.0)]);
        assert!(Estimates::of(&rows[4..]).is_none());
    }

    /// Holds manager/source.
    #[test]
    fn a_source_that_holds_its_rate_is_within_five_per_cent_of_it() {
        let source = Source::of(4.0, &[4.0, 3.9, 4.1, 3.0, 5.0]).unwrap();
        assert_eq!(
            (source.within_pct, source.below_pct, source.p50_mbps),
            (60.0, 20.0, 4.0)
        );
        assert!(Source::of(4.0, &[]).is_none());
    }
}
