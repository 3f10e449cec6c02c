//! How a call would be judged: the E-model of ITU-T Recommendation G.107.
//!
//! A narrowband telephone call between two people is rated from 0 to about 100 by adding up what impairs it:
//!
//! `R = Ro - Is - Id - Ie-eff + A`
//!
//! | term | clause | impaired by |
//! |---|---|---|
//! | Ro | 7.2 | noise: of circuits, of both rooms, of the set |
//! | Is | 7.3 | what goes with the voice: too loud, own voice too loud in the ear, quantising |
//! | Id = Idte + Idle + Idd | 7.4 | delay: echo to the talker, echo to the listener, delay alone |
//! | Ie-eff | 7.5 | the codec and lost packets |
//! | A | 7.6 | negative impairment: what users forgive for the advantage of access |
//!
//! Without any network R is 93.2 (with these default values), and the mean opinion score 4.41 (Annex B). The parameters
//! and their default values of Table 2 are the fields of [`Parameters`]:
//!
//! | field | symbol | default | |
//! |---|---|---|---|
//! | `send_loudness` | SLR | 8 dB | loudness rating of the sending side |
//! | `receive_loudness` | RLR | 2 dB | loudness rating of the receiving side |
//! | `sidetone` | STMR | 15 dB | masking rating of one's own voice in the ear |
//! | `receive_room_factor` | Dr | 3 dB | with STMR it makes LSTR = STMR + Dr, 18 dB |
//! | `send_room_factor` | Ds | 3 dB | how much less the microphone picks up of the room |
//! | `talker_echo` | TELR | 65 dB | loudness rating of the talker's echo |
//! | `listener_echo` | WEPL | 110 dB | weighted loss of the echo path |
//! | `echo_delay_ms` | T | 0 ms | mean one-way delay of the echo path |
//! | `round_trip_ms` | Tr | 0 ms | round trip in the four-wire loop |
//! | `delay_ms` | Ta | 0 ms | one-way delay from mouth to ear |
//! | `quantising_units` | qdu | 1 | quantising distortion units |
//! | `codec.ie` | Ie | 0 | impairment by the codec |
//! | `codec.bpl` | Bpl | 4.3 | robustness of the codec against loss |
//! | `loss_pct` | Ppl | 0 % | probability of loss |
//! | `burst_ratio` | `BurstR` | 1 | how much longer bursts of loss are than random ones ([`crate::call::Runs`]) |
//! | `circuit_noise` | Nc | -70 dBm0p | circuit noise, at the 0 dBr point |
//! | `noise_floor` | Nfor | -64 dBmp | noise floor at the receiving side |
//! | `send_room` | Ps | 35 dB(A) | room noise at the sending side |
//! | `receive_room` | Pr | 35 dB(A) | room noise at the receiving side |
//! | `advantage` | A | 0 | advantage of access |
//!
//! The delay sensitivity of the 2014 version stays at its default (sT = 1, mT = 100 ms).
//!
//! The delay from mouth to ear is more than the network's: [`MouthToEar`] adds the time to fill a packet and the time in
//! the jitter buffer. An IP call between two digital sets has its echo in the far set: T = Ta, and Tr = 2 Ta.

use crate::call::JITTER_BUFFER_MS;

/// What a codec costs by itself, and how it bears loss (ITU-T G.113 Appendix I).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Codec {
    /// Equipment impairment factor Ie at no loss, 0 to 95.
    pub ie: f64,
    /// Packet-loss robustness factor Bpl, above 0.
    pub bpl: f64,
}

impl Codec {
    /// G.711 that plays silence for a lost packet.
    pub const G711: Self = Self { ie: 0.0, bpl: 4.3 };
    /// G.711 with packet-loss concealment (G.711 Appendix I), 10 ms packets.
    pub const G711_PLC: Self = Self { ie: 0.0, bpl: 25.1 };
}

/// All parameters of the model, with the default values of G.107 Table 2; the module's page has a table of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// SLR, dB.
    pub send_loudness: f64,
    /// RLR, dB.
    pub receive_loudness: f64,
    /// STMR, dB.
    pub sidetone: f64,
    /// Dr, dB.
    pub receive_room_factor: f64,
    /// Ds, dB.
    pub send_room_factor: f64,
    /// TELR, dB.
    pub talker_echo: f64,
    /// WEPL, dB.
    pub listener_echo: f64,
    /// T, milliseconds.
    pub echo_delay_ms: f64,
    /// Tr, milliseconds.
    pub round_trip_ms: f64,
    /// Ta, milliseconds.
    pub delay_ms: f64,
    /// qdu, above 0.
    pub quantising_units: f64,
    /// Ie and Bpl.
    pub codec: Codec,
    /// Ppl, per cent.
    pub loss_pct: f64,
    /// `BurstR`. What is below 1 counts as 1: losses that are spread more evenly than by chance sound no better.
    pub burst_ratio: f64,
    /// Nc, dBm0p.
    pub circuit_noise: f64,
    /// Nfor, dBmp.
    pub noise_floor: f64,
    /// Ps, dB(A).
    pub send_room: f64,
    /// Pr, dB(A).
    pub receive_room: f64,
    /// A.
    pub advantage: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            send_loudness: 8.0,
            receive_loudness: 2.0,
            sidetone: 15.0,
            receive_room_factor: 3.0,
            send_room_factor: 3.0,
            talker_echo: 65.0,
            listener_echo: 110.0,
            echo_delay_ms: 0.0,
            round_trip_ms: 0.0,
            delay_ms: 0.0,
            quantising_units: 1.0,
            codec: Codec::G711,
            loss_pct: 0.0,
            burst_ratio: 1.0,
            circuit_noise: -70.0,
            noise_floor: -64.0,
            send_room: 35.0,
            receive_room: 35.0,
            advantage: 0.0,
        }
    }
}

/// Where the delay of a call comes from, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MouthToEar {
    /// One-way delay of the network.
    pub network_ms: f64,
    /// Speech in one packet: the first sample waits for the last.
    pub packet_ms: f64,
    /// Time in the jitter buffer. What comes later than this is [late](crate::call).
    pub jitter_buffer_ms: f64,
}

impl MouthToEar {
    /// The delay of a call in packets of `packet_ms`, with the jitter buffer of the RRUL specification, 30 ms.
    pub const fn of(network_ms: f64, packet_ms: f64) -> Self {
        Self {
            network_ms,
            packet_ms,
            jitter_buffer_ms: JITTER_BUFFER_MS,
        }
    }

    /// The sum, in milliseconds.
    pub const fn total_ms(&self) -> f64 {
        self.network_ms + self.packet_ms + self.jitter_buffer_ms
    }
}

/// A rating with its parts, so that a figure can say why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rating {
    /// Transmission rating factor R; below 0 or above 100 for extreme parameters.
    pub r: f64,
    /// Mean opinion score, 1 to 4.5.
    pub mos: f64,
    /// Ro, the signal against the noise.
    pub basic: f64,
    /// Is, what goes with the voice.
    pub simultaneous: f64,
    /// Id, delay and echo.
    pub delay: f64,
    /// Ie-eff, codec and loss.
    pub equipment: f64,
}

/// Rates a call between two digital sets by what its stream suffered. `loss_pct` is what did not arrive in time for the
/// jitter buffer, lost or late. `None` when an argument is not finite.
pub fn rate_call(
    codec: Codec,
    delay: MouthToEar,
    loss_pct: f64,
    burst_ratio: f64,
) -> Option<Rating> {
    let delay_ms = delay.total_ms();
    if !(delay_ms.is_finite() && burst_ratio.is_finite()) {
        return None;
    }
    let delay_ms = delay_ms.max(0.0);
    rate(&Parameters {
        delay_ms,
        echo_delay_ms: delay_ms,
        round_trip_ms: 2.0 * delay_ms,
        codec,
        loss_pct,
        burst_ratio,
        ..Parameters::default()
    })
}

/// Rates a call (clause 7.1). `None` when the parameters have no finite rating.
pub fn rate(p: &Parameters) -> Option<Rating> {
    let noise = noise(p);
    let basic = 15.0 - 1.5 * (p.send_loudness + noise);
    let sidetone = sidetone_impairment(p);
    let simultaneous = loudness_impairment(p, noise) + sidetone + quantising_impairment(p, basic);
    let delay = talker_echo_impairment(p, noise, sidetone)
        + listener_echo_impairment(p, basic)
        + pure_delay_impairment(p.delay_ms);
    let equipment = equipment_impairment(p.codec, p.loss_pct, p.burst_ratio);
    let r = basic - simultaneous - delay - equipment + p.advantage;
    r.is_finite().then(|| Rating {
        r,
        mos: mos(r),
        basic,
        simultaneous,
        delay,
        equipment,
    })
}

/// The mean opinion score for a rating (Annex B): 1 to 4.5. Between R = 0 and 6.5 Annex B's cubic dips below 1, the
/// least of the scale; it is held at 1 there, so that a worse rating never scores better.
pub fn mos(r: f64) -> f64 {
    if r >= 100.0 {
        4.5
    } else if r > 0.0 {
        (1.0 + 0.035 * r + r * (r - 60.0) * (100.0 - r) * 7e-6).max(1.0)
    } else {
        1.0
    }
}

/// The rating for a mean opinion score: the inverse of [`mos`] from R = 6.5 (score 1) to 100 (score 4.5). `None` outside.
pub fn rating_of(score: f64) -> Option<f64> {
    if !(1.0..=4.5).contains(&score) {
        return None;
    }
    let (mut low, mut high) = (0.0, 100.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if mos(middle) < score || mos(middle) <= 1.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(f64::midpoint(low, high))
}

/// Adds powers given in dB.
fn sum_db<const N: usize>(levels: [f64; N]) -> f64 {
    10.0 * levels
        .iter()
        .map(|db| 10_f64.powf(db / 10.0))
        .sum::<f64>()
        .log10()
}

/// No, clause 7.2: the sum of circuit noise, both rooms and the noise floor, dBm0p.
fn noise(p: &Parameters) -> f64 {
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
fn loudness_impairment(p: &Parameters, noise: f64) -> f64 {
    let overall = p.send_loudness + p.receive_loudness;
    let x = (overall + 0.2 * (64.0 + noise - p.receive_loudness)) / 8.0;
    20.0 * (soft_max(x, 8.0) - x)
}

/// Ist, clause 7.3.2: a sidetone that is not the best one.
fn sidetone_impairment(p: &Parameters) -> f64 {
    let echo = (-p.echo_delay_ms / 4.0).exp() * 10_f64.powf(-p.talker_echo / 10.0);
    let sidetone = -10.0 * (10_f64.powf(-p.sidetone / 10.0) + echo).log10();
    // The exponents 35 and 13 are odd, so below -1 and 3 dB these terms would have no real value: they are 1 there.
    12.0 * soft_max((sidetone - 13.0) / 6.0, 8.0)
        - 28.0 * soft_max(((sidetone + 1.0) / 19.4).max(0.0), 35.0)
        - 13.0 * soft_max(((sidetone - 3.0) / 33.0).max(0.0), 13.0)
        + 29.0
}

/// Iq, clause 7.3.3: quantising distortion.
fn quantising_impairment(p: &Parameters, basic: f64) -> f64 {
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
fn talker_echo_impairment(p: &Parameters, noise: f64, sidetone: f64) -> f64 {
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
fn listener_echo_impairment(p: &Parameters, basic: f64) -> f64 {
    let echo = 10.5 * (p.listener_echo + 7.0) * (p.round_trip_ms + 1.0).powf(-0.25);
    pulled_down(basic, echo, 13.0)
}

/// Idd, clause 7.4: too long a delay, even without any echo.
fn pure_delay_impairment(delay_ms: f64) -> f64 {
    if delay_ms <= 100.0 {
        return 0.0;
    }
    let x = (delay_ms / 100.0).log2();
    25.0 * (soft_max(x, 6.0) - 3.0 * soft_max(x / 3.0, 6.0) + 2.0)
}

/// Ie-eff, clause 7.5: codec and loss.
fn equipment_impairment(codec: Codec, loss_pct: f64, burst_ratio: f64) -> f64 {
    let loss = loss_pct.clamp(0.0, 100.0);
    if loss <= 0.0 {
        return codec.ie;
    }
    codec.ie + (95.0 - codec.ie) * loss / (loss / burst_ratio.max(1.0) + codec.bpl)
}

#[cfg(test)]
mod tests;
