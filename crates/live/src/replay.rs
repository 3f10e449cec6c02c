//! Replays: how many connections are open, and how many were begun and are over.

use super::View;
use super::chart::{self, COLOURS, Drawn, Points};
use ::tmix::replay::Live;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};

/// Connections over time.
pub struct Replay {
    name: String,
    open: Points,
    begun: Points,
    ended: Points,
}

impl Replay {
    /// A replay of `vectors` towards `place`.
    pub fn new(vectors: &str, place: &str) -> Self {
        Self {
            name: format!("replay {vectors} {place}"),
            open: Points::default(),
            begun: Points::default(),
            ended: Points::default(),
        }
    }
}

impl View for Replay {
    type Live = Live;

    fn title(&self) -> String {
        self.name.clone()
    }

    fn take(&mut self, live: &Live, _: f64) {
        let t = live.elapsed.as_secs_f64();
        self.open.push(t, live.open as f64);
        self.begun.push(t, live.begun as f64);
        self.ended.push(t, live.ended as f64);
    }

    fn progress(&self, live: &Live) -> (f64, String) {
        let (elapsed, planned) = (live.elapsed.as_secs_f64(), live.planned.as_secs_f64());
        let label = format!(
            "{elapsed:.0} of {planned:.0} s, {} of {} begun",
            live.begun, live.parts
        );
        (elapsed / planned.max(1e-9), label)
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, live: &Live) {
        let [above, below] = Layout::vertical([Constraint::Fill(1); 2]).areas(area);
        // Those that are open when all are begun take longer than planned.
        let end = live.planned.as_secs_f64().max(self.open.end());
        let seconds = [0.0, end / 2.0, end];
        let x = (&seconds[..], " s");
        let open = Drawn {
            points: &self.open,
            colour: COLOURS[0],
            says: live.open.to_string(),
        };
        chart::draw(frame, above, "connections open: ", &[open], x);
        let both = [
            Drawn {
                points: &self.begun,
                colour: COLOURS[1],
                says: format!("begun {}", live.begun),
            },
            Drawn {
                points: &self.ended,
                colour: COLOURS[2],
                says: format!("over {}", live.ended),
            },
        ];
        chart::draw(frame, below, "connections so far: ", &both, x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn;
    use std::time::Duration;

    #[test]
    fn the_view_shows_open_begun_and_ended_connections() {
        let live = |second: u64| Live {
            elapsed: Duration::from_secs(second),
            planned: Duration::from_secs(60),
            begun: 100 * second,
            parts: 6_000,
            ended: 90 * second,
            open: 10 * second,
        };
        let news: Vec<_> = (1..=30).map(live).collect();
        let shown = drawn(Replay::new("a.parquet", "dumbbell"), &news, (80, 24), false);
        for wanted in [
            "replay a.parquet dumbbell",
            "connections open: 300",
            "begun 3000 over 2700",
            "30 of 60 s, 3000 of 6000 begun",
        ] {
            assert!(shown.contains(wanted), "{wanted} is not in\n{shown}");
        }
    }
}
