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

mod terms;

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
    /// One-way delay of the network from which the jitter buffer counts: the least delay of the stream
    /// ([`crate::call::Call::least_ns`]). What a datagram takes longer, the buffer's time already holds.
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
    let noise = terms::noise(p);
    let basic = 15.0 - 1.5 * (p.send_loudness + noise);
    let sidetone = terms::sidetone_impairment(p);
    let simultaneous =
        terms::loudness_impairment(p, noise) + sidetone + terms::quantising_impairment(p, basic);
    let delay = terms::talker_echo_impairment(p, noise, sidetone)
        + terms::listener_echo_impairment(p, basic)
        + terms::pure_delay_impairment(p.delay_ms);
    let equipment = terms::equipment_impairment(p.codec, p.loss_pct, p.burst_ratio);
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

#[cfg(test)]
mod tests;
