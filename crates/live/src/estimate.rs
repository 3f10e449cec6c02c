//! Estimators: what they are doing, what they did before, and what it has cost the path.

use super::View;
use super::chart::{self, COLOURS, Drawn, Points};
use ::estimate::Live;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::{Block, Paragraph};

/// Steps that are kept: more than any screen has lines.
const MOST_STEPS: usize = 200;

/// Octets over time, and the steps so far.
pub struct Estimate {
    name: String,
    octets: Points,
    steps: Vec<(f64, String)>,
}

impl Estimate {
    /// An estimate of `what` towards `place`.
    pub fn new(what: &str, place: &str) -> Self {
        Self {
            name: format!("estimate {what} {place}"),
            octets: Points::default(),
            steps: Vec::new(),
        }
    }
}

impl View for Estimate {
    type Live = Live;

    fn title(&self) -> String {
        self.name.clone()
    }

    fn take(&mut self, live: &Live, t: f64) {
        self.octets.push(t, live.octets as f64 / 1e6);
        if self
            .steps
            .last()
            .is_none_or(|(_, step)| *step != live.doing)
        {
            if self.steps.len() == MOST_STEPS {
                self.steps.remove(0);
            }
            self.steps.push((t, live.doing.clone()));
        }
    }

    fn progress(&self, live: &Live) -> (f64, String) {
        let label = format!(
            "{} trains, {} probes, {:.1} MB",
            live.trains,
            live.probes,
            live.octets as f64 / 1e6
        );
        (live.done.unwrap_or(0.0), label)
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, live: &Live) {
        let [above, below] = Layout::vertical([Constraint::Fill(1); 2]).areas(area);
        // Within the border, the newest at the foot.
        let room = usize::from(above.height.saturating_sub(2));
        let newest = self.steps.len().saturating_sub(room);
        let steps = self.steps[newest..].iter();
        let steps: Vec<_> = steps
            .map(|(t, step)| Line::from(format!("{t:6.1} s  {step}")))
            .collect();
        let block = Block::bordered().title("steps");
        frame.render_widget(Paragraph::new(steps).block(block), above);
        let seconds = chart::growing(self.octets.end());
        let sent = Drawn {
            points: &self.octets,
            colour: COLOURS[0],
            says: format!("{:.1}", live.octets as f64 / 1e6),
        };
        chart::draw(
            frame,
            below,
            "put on the path, MB: ",
            &[sent],
            (&seconds, " s"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn;

    #[test]
    fn the_view_shows_the_newest_steps_and_the_cost() {
        let live = |step: u32| Live {
            done: None,
            trains: step,
            probes: 100 * u64::from(step),
            octets: 150_000 * u64::from(step),
            doing: format!("train at {step} Mbit/s"),
        };
        let news: Vec<_> = (1..=40).flat_map(|step| [live(step), live(step)]).collect();
        let shown = drawn(Estimate::new("available", "step"), &news, (80, 24), false);
        for wanted in [
            "estimate available step",
            "  78.0 s  train at 40 Mbit/s",
            "put on the path, MB: 6.0",
            "40 trains, 4000 probes, 6.0 MB",
        ] {
            assert!(shown.contains(wanted), "{wanted} is not in\n{shown}");
        }
        assert_eq!(shown.matches("train at 40 ").count(), 1);
        assert!(!shown.contains("train at 1 "));
    }
}
