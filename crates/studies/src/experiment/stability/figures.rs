//! The paper's figures, with what was found here.

use super::cases::side;
use super::found::{Made, Pairs, difference, difference_pct, loss_difference};
use report::experiment::{Axis, Experiment, Figure, Kind, Series, Source};

/// Adds the figures.
pub(super) fn add(experiment: Experiment, pairs: &Pairs) -> Experiment {
    if pairs.len() == 0 {
        return experiment;
    }
    experiment
        .figure(differences(pairs))
        .figure(throughputs(pairs))
        .figure(losses(pairs))
        .figure(percents(pairs))
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
