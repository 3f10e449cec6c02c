use super::super::samples::{a, any_vector, ms, sequential, vector};
use super::*;
use crate::Vector;
use proptest::prelude::*;

fn over(rtt_us: u64) -> Vector {
    Vector {
        min_rtt: Some(Duration::from_micros(rtt_us)),
        ..vector(sequential(&[a(1, 0)], None))
    }
}

fn summary(rtts_us: impl IntoIterator<Item = u64>) -> Summary {
    let mut summary = Summary::default();
    for rtt in rtts_us {
        summary.enter(over(rtt).min_rtt);
    }
    summary
}

fn da(paths: u16) -> Model {
    Model::Da(NonZeroU16::new(paths).unwrap())
}

/// Holds tmix/mean-median, tmix/usernet, tmix/nodelay.
#[test]
fn mean_and_median_are_those_of_the_set() {
    let mut set = summary([10, 20, 30, 40, 1_900]);
    let unknown = Vector {
        min_rtt: None,
        ..over(1)
    };
    set.enter(unknown.min_rtt);
    let us = Duration::from_micros;
    assert_eq!(Model::Mean.resolve(&set), Rtts::One(us(400)));
    assert_eq!(Model::Median.resolve(&set), Rtts::One(us(30)));
    assert_eq!(Model::NoDelay.resolve(&set), Rtts::One(us(0)));
    assert_eq!(set.unknown(), 1);
    let own = Model::Usernet.resolve(&set);
    assert_eq!(own.of(&unknown, 0, 1), us(30));
    assert_eq!(own.of(&over(7), 0, 1), us(7));
}

/// Of 1 to 1,000 us the first and last ten are cut off; 490 remain for each half: means 255.5 and 745.5.
///
/// Holds tmix/da.
#[test]
fn the_discrete_approximation_averages_equal_parts_of_the_middle() {
    let set = summary(1..=1_000);
    let means = [255_500, 745_500].map(Duration::from_nanos);
    assert_eq!(da(2).resolve(&set), Rtts::Paths(means.to_vec()));
    let Rtts::Paths(paths) = Model::DA.resolve(&set) else {
        panic!("not paths")
    };
    assert_eq!(paths.len(), 30);
    assert!(paths.is_sorted());
    assert!(paths[0] > Duration::from_micros(11) && paths[29] < Duration::from_micros(990));
}

/// A part need not hold a whole number of connections.
#[test]
fn a_part_may_hold_a_share_of_a_connection() {
    let Rtts::Paths(paths) = da(3).resolve(&summary([0, 1_000])) else {
        panic!("not paths")
    };
    let us: Vec<_> = paths.iter().map(Duration::as_micros).collect();
    assert_eq!(us, [0, 500, 1_000]);
}

/// Holds tmix/uniform.
#[test]
fn uniform_has_whole_ms_of_the_middle_of_the_set() {
    let set = summary((1..=100).map(|ms| ms * 1_000));
    assert_eq!(Model::Uniform.resolve(&set), Rtts::Uniform(10, 90));
    let rtts = Rtts::Uniform(10, 12);
    let mut seen: Vec<_> = (0..100).map(|at| rtts.of(&over(1), at, 5)).collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, [10, 11, 12].map(ms));
}

/// Holds tmix/mean-median, tmix/ten-paths, tmix/da, tmix/uniform.
#[test]
fn published_figures_are_those_of_d() {
    let sum = |set: &Published| set.da_ms.iter().sum::<u32>();
    // Means of 66.4 and 83.4 ms.
    assert_eq!((sum(&UNC_2008), sum(&IBM_2006)), (1_992, 2_502));
    assert_eq!(TEN_PATHS_MS.iter().sum::<u32>(), 922);
    let of_both = |model: Model| [&UNC_2008, &IBM_2006].map(|set| model.published(set));
    let one = |told: [u64; 2]| told.map(|each| Some(Rtts::One(ms(each))));
    assert_eq!(of_both(Model::Mean), one([80, 92]));
    assert_eq!(of_both(Model::Median), one([36, 68]));
    let ranges = [(10, 200), (30, 150)].map(|(from, to)| Some(Rtts::Uniform(from, to)));
    assert_eq!(of_both(Model::Uniform), ranges);
    assert_eq!(da(150).published(&UNC_2008), None);
    assert!(Model::DA.published(&UNC_2008).is_some());
}

/// Holds tmix/ten-paths, tmix/da.
#[test]
fn paths_get_equal_shares_of_the_connections() {
    let rtts = Model::TenPaths.resolve(&Summary::default());
    let mut counts = [0; 10];
    for index in 0..10_000 {
        let rtt = rtts.of(&over(1), index, 42).as_millis();
        let path = TEN_PATHS_MS.iter().position(|&ms| u128::from(ms) == rtt);
        counts[path.unwrap()] += 1;
    }
    assert!(
        counts.iter().all(|count| (880..1_120).contains(count)),
        "{counts:?}"
    );
}

/// Holds tmix/more-paths.
#[test]
fn names_are_read_and_written() {
    for model in Model::ALL {
        assert_eq!(model.to_string().parse(), Ok(model));
    }
    assert_eq!("30path".parse(), Ok(Model::DA));
    assert_eq!("da:150".parse(), Ok(da(150)));
    for text in ["", "da:0", "da:-1", "da:70000", "usernett"] {
        assert!(text.parse::<Model>().is_err(), "{text}");
    }
}

proptest! {
    #[test]
    fn any_set_has_all_models(vectors in prop::collection::vec(any_vector(), 0..10), seed in any::<u64>()) {
        let mut set = Summary::default();
        for vector in &vectors {
            set.enter(vector.min_rtt);
        }
        for model in Model::ALL {
            let rtts = model.resolve(&set);
            for (index, vector) in (0..).zip(&vectors) {
                let rtt = rtts.of(vector, index, seed);
                prop_assert_eq!(rtt, rtts.of(vector, index, seed));
                let mut changed = vector.clone();
                rtts.apply(&mut changed, index, seed);
                prop_assert_eq!(changed.min_rtt, Some(rtt));
                if model == Model::Usernet {
                    prop_assert!(vector.min_rtt.is_none_or(|own| own == rtt));
                }
            }
        }
    }

    #[test]
    fn summaries_add_up(rtts in prop::collection::vec(0..10_000_000_u64, 1..50), at in 0..50_usize) {
        let at = at.min(rtts.len());
        let mut parts = summary(rtts[..at].iter().copied());
        parts.merge(&summary(rtts[at..].iter().copied()));
        let whole = summary(rtts);
        for model in Model::ALL {
            prop_assert_eq!(model.resolve(&parts), model.resolve(&whole));
        }
    }
}
