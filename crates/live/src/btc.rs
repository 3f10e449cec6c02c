//! Bulk transfers: the rate, the congestion window, and how much was sent again.

use super::View;
use super::chart::{self, COLOURS, Drawn, Points};
use ::btc::Live;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};

/// Rate and window over time.
pub struct Btc {
    name: String,
    rate: Points,
    window: Points,
}

impl Btc {
    /// Transfers towards `place`.
    pub fn new(place: &str) -> Self {
        Self {
            name: format!("btc {place} - bulk transfer capacity"),
            rate: Points::default(),
            window: Points::default(),
        }
    }
}

/// Packets that were copies of others, in percent.
fn copies_pct(live: &Live) -> f64 {
    live.retransmits as f64 / live.packets.max(1) as f64 * 100.0
}

impl View for Btc {
    type Live = Live;

    fn title(&self) -> String {
        self.name.clone()
    }

    fn take(&mut self, live: &Live, t: f64) {
        self.rate.push(t, live.mbps);
        if let Some(segments) = live.cwnd {
            self.window.push(t, segments);
        }
    }

    fn progress(&self, live: &Live) -> (f64, String) {
        let label = format!(
            "{:.0} % done, {} packets, {:.2} % sent again",
            live.done.min(1.0) * 100.0,
            live.packets,
            copies_pct(live)
        );
        (live.done, label)
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, live: &Live) {
        let seconds = chart::growing(self.rate.end());
        let x = (&seconds[..], " s");
        let rate = Drawn {
            points: &self.rate,
            colour: COLOURS[0],
            says: format!("{:.1}", live.mbps),
        };
        let Some(segments) = self.window.last() else {
            // The sender is elsewhere: its window is not known.
            chart::draw(frame, area, "mean rate of this round, Mbit/s: ", &[rate], x);
            return;
        };
        let [above, below] = Layout::vertical([Constraint::Fill(1); 2]).areas(area);
        chart::draw(
            frame,
            above,
            "mean rate of this round, Mbit/s: ",
            &[rate],
            x,
        );
        let window = Drawn {
            points: &self.window,
            colour: COLOURS[1],
            says: format!("{segments:.0}"),
        };
        chart::draw(frame, below, "congestion window, segments: ", &[window], x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn;

    fn live(cwnd: Option<f64>) -> Live {
        Live {
            done: 0.25,
            mbps: 17.25,
            cwnd,
            packets: 1_000,
            retransmits: 5,
        }
    }

    #[test]
    fn the_view_shows_the_rate_the_window_and_what_was_sent_again() {
        let news: Vec<_> = (0..20_u32).map(|t| live(Some(f64::from(t)))).collect();
        let shown = drawn(Btc::new("lossy"), &news, (80, 24), false);
        for wanted in [
            "btc lossy",
            "Mbit/s: 17.2",
            "congestion window, segments: 19",
            "25 % done, 1000 packets, 0.50 % sent again",
        ] {
            assert!(shown.contains(wanted), "{wanted} is not in\n{shown}");
        }
    }

    #[test]
    fn a_window_that_is_not_known_has_no_plot() {
        let shown = drawn(Btc::new("lossy"), &[live(None)], (80, 24), false);
        assert!(!shown.contains("congestion window"), "{shown}");
    }
}
