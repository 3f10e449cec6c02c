//! What may be chosen.

use core::time::Duration;

/// How to tell ADUs and ends of connections.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Options {
    /// The silence of an end that could have sent after which it begins another ADU; 500 ms (Aikat 2010, section 3.1.3.3).
    pub quiet: Duration,
    /// The silence after which an established connection is taken for ended; 2 h and 4 min, what a translator must wait
    /// (RFC 5382, requirement 5).
    pub idle: Duration,
    /// The same for one that was never answered, or of which an end has closed; 4 min (as before).
    pub transitory: Duration,
    /// The silence after which a flow of UDP has ended; 60 s, about what the usual definition of a flow has (Claffy, Braun and
    /// Polyzos, "A parameterizable methodology for Internet traffic flow profiling", 1995: 64 s).
    pub udp_idle: Duration,
    /// The most connections that are open at once, and as many flows of UDP; packets of others are counted and left out.
    pub most_open: usize,
    /// Of the hash function: with one that nobody knows no capture can be made to fill one place of the table.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            quiet: Duration::from_millis(500),
            idle: Duration::from_secs(2 * 3_600 + 4 * 60),
            transitory: Duration::from_secs(4 * 60),
            udp_idle: Duration::from_secs(60),
            most_open: 1 << 20,
            seed: 0,
        }
    }
}
