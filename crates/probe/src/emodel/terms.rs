//! The terms of R, each with its clause of G.107.

use super::{Codec, Parameters};

/// Adds powers given in dB.
fn sum_db<const N: usize>(levels: [f64; N]) -> f64 {
    10.0 * levels
        .iter()
        .map(|db| 10_f64.powf(db / 10.0))
        .sum::<f64>()
        .log10()
}

/// No, clause 7.2: the sum of circuit noise, both rooms and the noise floor, dBm0p.
pub(super) fn noise(p: &Parameters) -> f64 {
    let overall = p.send_loudness + p.receive_loudness;
    let beyond = p.send_room - overall - p.send_room_factor - 14.0;
    let from_sender =
        p.send_room - p.send_loudness - p.send_room_factor - 100.0 + 0.004 * beyond * beyond;
    let listener_sidetone = p.sidetone + p.receive_room_factor;
    let room =
        p.receive_room + 10.0 * (1.0 + 10_f64.powf((10.0 - listener_sidetone) / 10.0)).log10();
    let from_receiver = p.receive_loudness - 121.0 + room + 0.008 * (room - 35.0) * (room - 35.0);
    sum_db([
        p.circuit_noise,
        from_sender,
        from_receiver,
        p.noise_floor + p.receive_loudness,
    ])
}

/// (1 + x^n)^(1/n) for an even `n`, also where x^n would overflow.
fn soft_max(x: f64, n: f64) -> f64 {
    let x = x.abs();
    if x > 1.0 {
        x * (1.0 + x.powf(-n)).powf(1.0 / n)
    } else {
        (1.0 + x.powf(n)).powf(1.0 / n)
    }
}

/// Iolr, clause 7.3.1: too loud a connection.
pub(super) fn loudness_impairment(p: &Parameters, noise: f64) -> f64 {
    let overall = p.send_loudness + p.receive_loudness;
    let x = (overall + 0.2 * (64.0 + noise - p.receive_loudness)) / 8.0;
    20.0 * (soft_max(x, 8.0) - x)
}

/// Ist, clause 7.3.2: a sidetone that is not the best one.
pub(super) fn sidetone_impairment(p: &Parameters) -> f64 {
    let echo = (-p.echo_delay_ms / 4.0).exp() * 10_f64.powf(-p.talker_echo / 10.0);
    let sidetone = -10.0 * (10_f64.powf(-p.sidetone / 10.0) + echo).log10();
    // The exponents 35 and 13 are odd, so below -1 and 3 dB these terms would have no real value: they are 1 there.
    12.0 * soft_max((sidetone - 13.0) / 6.0, 8.0)
        - 28.0 * soft_max(((sidetone + 1.0) / 19.4).max(0.0), 35.0)
        - 13.0 * soft_max(((sidetone - 3.0) / 33.0).max(0.0), 13.0)
        + 29.0
}

/// Iq, clause 7.3.3: quantising distortion.
pub(super) fn quantising_impairment(p: &Parameters, basic: f64) -> f64 {
    let ratio = 37.0 - 15.0 * p.quantising_units.log10();
    let g = 1.07 + 0.258 * ratio + 0.0602 * ratio * ratio;
    let y = (basic - 100.0) / 15.0 + 46.0 / 8.4 - g / 9.0;
    let z = 46.0 / 30.0 - g / 40.0;
    1.5 * sum_db([0.0, 10.0 * y, 10.0 * z])
}

/// How far an echo at `echo` pulls a rating of `clean` down: a smooth step of the given `width`.
fn pulled_down(clean: f64, echo: f64, width: f64) -> f64 {
    let half = (clean - echo) / 2.0;
    half + half.hypot(width)
}

/// Idte, clause 7.4: the talker hears an own echo.
pub(super) fn talker_echo_impairment(p: &Parameters, noise: f64, sidetone: f64) -> f64 {
    let t = p.echo_delay_ms;
    // A good sidetone masks the echo, a weak one adds to it.
    let masked = if p.sidetone < 9.0 {
        sidetone / 2.0
    } else {
        0.0
    };
    let echo = p.talker_echo - 40.0 * ((1.0 + t / 10.0) / (1.0 + t / 150.0)).log10()
        + 6.0 * (-0.3 * t * t).exp()
        + masked;
    let clean = -1.5 * (noise - p.receive_loudness);
    let impairment =
        (pulled_down(clean, 80.0 + 2.5 * (echo - 14.0), 10.0) - 1.0) * (1.0 - (-t).exp());
    if t < 1.0 {
        0.0
    } else if p.sidetone > 20.0 {
        impairment.hypot(sidetone)
    } else {
        impairment
    }
}

/// Idle, clause 7.4: the listener hears the talker twice.
pub(super) fn listener_echo_impairment(p: &Parameters, basic: f64) -> f64 {
    let echo = 10.5 * (p.listener_echo + 7.0) * (p.round_trip_ms + 1.0).powf(-0.25);
    pulled_down(basic, echo, 13.0)
}

/// Idd, clause 7.4: too long a delay, even without any echo.
pub(super) fn pure_delay_impairment(delay_ms: f64) -> f64 {
    if delay_ms <= 100.0 {
        return 0.0;
    }
    let x = (delay_ms / 100.0).log2();
    25.0 * (soft_max(x, 6.0) - 3.0 * soft_max(x / 3.0, 6.0) + 2.0)
}

/// Ie-eff, clause 7.5: codec and loss.
pub(super) fn equipment_impairment(codec: Codec, loss_pct: f64, burst_ratio: f64) -> f64 {
    let loss = loss_pct.clamp(0.0, 100.0);
    if loss <= 0.0 {
        return codec.ie;
    }
    codec.ie + (95.0 - codec.ie) * loss / (loss / burst_ratio.max(1.0) + codec.bpl)
}
