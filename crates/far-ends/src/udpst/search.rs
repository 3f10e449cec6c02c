//! The search for the rate at which a path begins to show impairments: types B and C (RFC 9097 section 8.1, RFC 9946 section 7).
//!
//! Fast at first: each trial without impairments makes the rate larger by ten rows, or by a half in the mean. Some trials with impairments
//! make it fall by thirty rows once; from then on it rises and falls by a row.

use super::control::{Algorithm, Terms};
use super::rates::{GIGABIT, LAST};
use super::status::{Errors, Status};

/// Fast rows that the rate falls by when it meets the first impairments.
const BACK: u16 = 3;
/// Type C: trials until it searches fast again, and by how many more each time.
const RETRY: u16 = 5;

/// What a trial has found.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trial {
    /// What did not arrive as it was sent.
    pub errors: Errors,
    /// The delay variation that counts, ms; none where there is none.
    pub delay_ms: Option<u32>,
}

impl Trial {
    /// What a test on `terms` goes by in this feedback: the mean one-way delay variation, or the latest of round trips.
    pub fn of(terms: &Terms, status: &Status) -> Self {
        let delay = status.delay;
        let mean = delay
            .sum
            .saturating_add(delay.count / 2)
            .checked_div(delay.count);
        Self {
            errors: status.errors,
            delay_ms: if terms.one_way {
                mean
            } else {
                status.rtt_variation_ms
            },
        }
    }
}

/// The search.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    terms: Terms,
    row: u16,
    /// Trials with impairments, since the fast search began.
    impaired: u16,
    waited: u16,
    patience: u16,
    /// Type C: whether the next trial multiplies.
    is_due: bool,
}

impl Search {
    /// On `terms`, from nothing.
    pub const fn new(terms: Terms) -> Self {
        Self {
            terms,
            row: 0,
            impaired: 0,
            waited: 0,
            patience: RETRY,
            is_due: false,
        }
    }

    /// The row to send after this trial.
    pub fn adjust(&mut self, trial: &Trial) -> u16 {
        let mut errors = trial.errors.lost;
        if !self.terms.ignore_reordered {
            errors = errors
                .saturating_add(trial.errors.reordered)
                .saturating_add(trial.errors.duplicates);
        }
        let (low, upper) = self.terms.thresholds_ms;
        let (low, upper) = (u32::from(low), u32::from(upper));
        // Where nothing is known of the delay, it does not matter.
        let delay = trial.delay_ms.unwrap_or(low);
        let has_errors = errors > self.terms.losses_allowed.into();
        if !has_errors && delay < low {
            self.rise();
        } else if has_errors || delay > upper {
            self.fall();
        }
        self.row
    }

    fn is_fast(&self) -> bool {
        self.row < GIGABIT && self.impaired < self.terms.slow_threshold
    }

    fn rise(&mut self) {
        if self.is_fast() {
            match self.terms.algorithm {
                Algorithm::B => {
                    self.row = (self.row + u16::from(self.terms.fast_rows)).min(GIGABIT);
                }
                Algorithm::C => self.multiply(),
            }
            self.impaired = 0;
            return;
        }
        if self.row < LAST {
            self.row += 1;
            self.wait();
        }
        if self.is_patience_over() {
            self.patience = self.patience.saturating_add(RETRY);
        }
    }

    /// Doubles the rate in every second trial.
    fn multiply(&mut self) {
        if self.row * 2 > GIGABIT {
            self.row = GIGABIT;
            return;
        }
        self.row = self.row.max(1);
        if self.is_due {
            self.row *= 2;
        }
        self.is_due = !self.is_due;
    }

    fn fall(&mut self) {
        self.impaired = self.impaired.saturating_add(1);
        if self.row < GIGABIT && self.impaired == self.terms.slow_threshold {
            let back = u16::from(self.terms.fast_rows) * BACK;
            self.row = self.row.saturating_sub(back);
        } else if self.row > 0 {
            self.row -= 1;
            self.wait();
            self.is_patience_over();
        }
    }

    fn wait(&mut self) {
        self.waited = self.waited.saturating_add(1);
    }

    /// Type C: whether the fast search begins again.
    fn is_patience_over(&mut self) -> bool {
        let is_over = self.terms.algorithm == Algorithm::C && self.waited >= self.patience;
        if is_over {
            (self.impaired, self.waited) = (0, 0);
        }
        is_over
    }
}
