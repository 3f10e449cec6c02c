use super::*;
use proptest::prelude::*;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-8 * b.abs().max(1e-6)
}

/// `scipy.stats.binomtest(k, n).proportion_ci(level, method)` of scipy 1.17: exact low, high, Wilson low, high.
#[test]
fn the_intervals_are_those_of_scipy() {
    let cases = [
        (
            0,
            10,
            0.95,
            0.0,
            0.308_497_107_818_762_94,
            0.0,
            0.277_532_799_862_889_26,
        ),
        (
            1,
            10,
            0.95,
            0.002_528_578_544_462_572_8,
            0.445_016_117_028_195_43,
            0.017_876_213_095_072_896,
            0.404_150_026_795_238_5,
        ),
        (
            10,
            10,
            0.95,
            0.691_502_892_181_237_1,
            1.0,
            0.722_467_200_137_110_1,
            1.0,
        ),
        (
            3,
            363,
            0.95,
            0.001_707_584_449_023_106,
            0.023_961_067_653_538_55,
            0.002_814_564_845_617_345_5,
            0.024_012_988_540_338_585,
        ),
        (
            7,
            520_000,
            0.95,
            5.412_253_170_773_4e-6,
            2.773_571_621_447_153e-5,
            6.520_906_771_915_243_5e-6,
            2.778_933_749_597_637_8e-5,
        ),
        (
            500,
            20_000,
            0.99,
            0.022_244_698_348_328_06,
            0.027_983_945_637_881_192,
            0.022_309_998_985_327_043,
            0.028_005_054_085_993_856,
        ),
        (
            1_000,
            100_000_000,
            0.95,
            9.389_732_943_821_75e-6,
            1.063_951_795_796_480_7e-5,
            9.399_117_455_015_202e-6,
            1.063_929_636_342_432_5e-5,
        ),
    ];
    for (k, n, level, low, high, wilson_low, wilson_high) in cases {
        let (e, w) = (exact(k, n, level).unwrap(), wilson(k, n, level).unwrap());
        assert!(close(e.low, low) && close(e.high, high), "{k}/{n}: {e:?}");
        assert!(
            close(w.low, wilson_low) && close(w.high, wilson_high),
            "{k}/{n}: {w:?}"
        );
    }
}

/// `scipy.stats.norm.cdf` and `.ppf` of scipy 1.17.
#[test]
fn the_normal_distribution_is_that_of_scipy() {
    let points = [
        (-6.0, 9.865_876_450_376_946e-10),
        (-3.5, 0.000_232_629_079_035_525_02),
        (-1.0, 0.158_655_253_931_457_07),
        (0.0, 0.5),
        (1.96, 0.975_002_104_851_779_5),
        (2.9999, 0.998_649_658_717_045),
        (3.0001, 0.998_650_545_086_739_2),
    ];
    for (z, p) in points {
        assert!((normal_cdf(z) - p).abs() < 1e-13 * p.max(1e-4), "{z}");
    }
    for (p, z) in [
        (0.9, 1.281_551_565_544_600_4),
        (0.975, 1.959_963_984_540_054),
        (1e-9, -5.997_807_015_007_687),
    ] {
        assert!((normal_quantile(p).unwrap() - z).abs() < 1e-9, "{p}");
    }
}

#[test]
fn what_is_no_share_has_no_interval() {
    for (k, n, level) in [
        (0, 0, 0.95),
        (2, 1, 0.95),
        (1, 2, 0.0),
        (1, 2, 1.0),
        (1, 2, f64::NAN),
    ] {
        assert_eq!(exact(k, n, level), None);
        assert_eq!(wilson(k, n, level), None);
    }
    assert_eq!(normal_quantile(0.0), None);
}

proptest! {
    #[test]
    fn an_interval_holds_its_estimate(n in 1_u64..1_000_000, share in 0.0_f64..1.0, level in 0.5_f64..0.999) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of n")]
        let k = (n as f64 * share) as u64;
        for interval in [exact(k, n, level).unwrap(), wilson(k, n, level).unwrap()] {
            prop_assert!(interval.low <= interval.estimate + 1e-12 && interval.estimate <= interval.high + 1e-12, "{interval:?}");
            prop_assert!(interval.low >= 0.0 && interval.high <= 1.0);
        }
    }
}
