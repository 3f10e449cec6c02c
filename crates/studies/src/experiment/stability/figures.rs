//! The paper's figures, with what was found here.

use super::cases::side;
use super::found::{Made, Measurement, Pairs, difference, difference_pct, loss_difference};
use report::experiment::{Axis, Experiment, Figure, Kind, Series, Source};
use schema::btc::plan::Tool;
use std::collections::BTreeMap;

/// Adds the figures.
pub(super) fn add(experiment: Experiment, made: &[Measurement], pairs: &Pairs) -> Experiment {
    if pairs.len() == 0 {
        return experiment;
    }
    experiment
        .figure(differences(pairs))
        .figure(throughputs(pairs))
        .figure(losses(pairs))
        .figure(percents(pairs))
        .figure(over_time(made, pairs))
}

fn share() -> Axis {
    Axis::new("share", "%").range(0.0, 100.0)
}

fn of(pairs: &[[Made; 2]], what: fn(&[Made; 2]) -> f64) -> impl Iterator<Item = f64> {
    pairs.iter().map(what)
}

fn differences(pairs: &Pairs) -> Figure {
    // A logarithmic axis has no zero; the paper's began at 1.
    let at_least_one = |pairs| of(pairs, difference).map(|value| value.max(1.0));
    Figure::new("figure-1", "Stability: how far the two transfers of a pair are apart")
        .caption(format!(
            "Distribution of the difference in throughput, {} pairs of TCP (paper: 104), {} of ours (paper: 109). The axes are the \
             paper's figure 1.",
            pairs.kernel.len(),
            pairs.ours.len()
        ))
        .x(Axis::new("throughput difference", "octets/s").log().range(1.0, 1e7))
        .y(share())
        .series(Series::cdf("TCP", at_least_one(&pairs.kernel)))
        .series(Series::cdf("ours", at_least_one(&pairs.ours)).source(Source::Ours))
        .how_to("The further left a curve, the more consistent the tool.")
        .how_to("The paper found both curves close to each other, and so *cap* as consistent as TCP; its curves' values are not in its text.")
}

fn percents(pairs: &Pairs) -> Figure {
    Figure::new("figure-1-percent", "The same in per cent of the pair's mean")
        .caption("Difference of the two throughputs over their mean, for pairs by the same tool and mixed ones.")
        .x(Axis::new("throughput difference", "%"))
        .y(share())
        .series(Series::cdf("one of each", of(&pairs.mixed, difference_pct)))
        .series(Series::cdf("TCP", of(&pairs.kernel, difference_pct)))
        .series(Series::cdf("ours", of(&pairs.ours, difference_pct)).source(Source::Ours))
        .how_to("Where the mixed pairs lie with the others, the tools differ no more than one differs from itself.")
}

fn throughputs(pairs: &Pairs) -> Figure {
    Figure::new("figure-2", "Throughput of ours and of TCP over the same paths")
        .caption(format!(
            "The {} measurements with one transfer of each (paper: 181). The axes are the paper's figure 2.",
            pairs.mixed.len()
        ))
        .x(Axis::new("throughput", "octets/s").log().range(1e3, 1e7))
        .y(share())
        .series(Series::cdf("TCP", side(pairs, 1)))
        .series(Series::cdf("ours", side(pairs, 0)).source(Source::Ours))
        .how_to("Curves that lie on each other mean that both tools find the same.")
        .how_to("The paper's curve of *cap* lay slightly right of TCP's; its values are not in its text.")
}

fn losses(pairs: &Pairs) -> Figure {
    let points = of(&pairs.mixed, loss_difference);
    let paper = [(1.0, 85.0)];
    Figure::new("loss", "Losses of ours and of TCP over the same paths")
        .caption("Difference between the shares of packets lost in mixed pairs.")
        .x(Axis::new("|difference of losses|", "points"))
        .y(share())
        .series(Series::cdf("one of each", points).source(Source::Ours))
        .series(Series::new("paper", Kind::Points, paper).source(Source::Paper))
        .how_to("The paper: 85 % within 1 point, nearly all within 10.")
}

/// Each transfer beside the next one over the same path by the same tool in another measurement.
fn later(made: &[Measurement]) -> Vec<[Made; 2]> {
    let mut paths = BTreeMap::<_, Vec<(usize, Made)>>::new();
    for one in made {
        for tool in [Tool::Ours, Tool::Kernel] {
            let planned = &one.planned;
            let transfer = one.transfers.iter().rfind(|made| made.tool == tool);
            let path = (&planned.from, &planned.to, tool.label());
            let entry = paths.entry(path).or_default();
            entry.extend(transfer.map(|made| (planned.number, *made)));
        }
    }
    let mut all = Vec::new();
    for path in paths.values_mut() {
        path.sort_by_key(|(number, _)| *number);
        all.extend(path.windows(2).map(|two| [two[0].1, two[1].1]));
    }
    all
}

fn over_time(made: &[Measurement], pairs: &Pairs) -> Figure {
    let later = later(made);
    let together = of(&pairs.kernel, difference_pct).chain(of(&pairs.ours, difference_pct));
    Figure::new("over-time", "Stability over time: the same path and tool, back to back and later")
        .caption(format!(
            "Difference of two throughputs over their mean: within a measurement, and from one measurement of a path to the next one \
             of it by the same tool ({} pairs).",
            later.len()
        ))
        .x(Axis::new("throughput difference", "%"))
        .y(share())
        .series(Series::cdf("back to back", together))
        .series(Series::cdf("later", of(&later, difference_pct)))
        .how_to("As far as *later* lies right of *back to back*, paths themselves have changed meanwhile.")
}

#[cfg(test)]
mod tests {
    use super::super::schedule::Planned;
    use super::*;

    #[test]
    fn a_transfer_is_compared_with_the_next_one_of_its_path_and_tool() {
        let one = |number: usize, to: &str, rates: &[(Tool, f64)]| Measurement {
            planned: Planned {
                number,
                start: std::time::Duration::ZERO,
                from: "a".to_owned(),
                to: to.to_owned(),
                tools: [Tool::Ours; 2],
            },
            transfers: rates
                .iter()
                .map(|&(tool, bytes_per_s)| Made {
                    tool,
                    bytes_per_s,
                    loss_pct: 0.0,
                    seconds: 1.0,
                })
                .collect(),
            failure: None,
        };
        let made = [
            one(2, "b", &[(Tool::Ours, 4.0)]),
            one(0, "b", &[(Tool::Ours, 1.0), (Tool::Kernel, 9.0)]),
            one(1, "b", &[(Tool::Ours, 2.0), (Tool::Ours, 3.0)]),
            one(3, "c", &[(Tool::Ours, 7.0)]),
        ];
        let pairs = later(&made);
        let rates = pairs.iter().map(|pair| pair.map(|made| made.bytes_per_s));
        assert!(rates.eq([[1.0, 3.0], [3.0, 4.0]]));
    }
}
