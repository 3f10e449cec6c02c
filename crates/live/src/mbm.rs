//! Model based metrics: which test is under way, and its losses against its packets, on which the sequential test decides.

use super::View;
use super::chart::{self, COLOURS, Drawn, Points};
use ::mbm_run::Live;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::{Block, Paragraph};

/// Losses over packets of the test under way, and how the tests before it ended.
pub struct Mbm {
    name: String,
    tests: Vec<(String, u64, u64)>,
    losses: Points,
}

impl Mbm {
    /// Tests towards `place`.
    pub fn new(place: &str) -> Self {
        Self {
            name: format!("mbm {place} - model based metrics"),
            tests: Vec::new(),
            losses: Points::default(),
        }
    }
}

impl View for Mbm {
    type Live = Live;

    fn title(&self) -> String {
        self.name.clone()
    }

    fn take(&mut self, live: &Live, _: f64) {
        if live.index >= self.tests.len() {
            self.losses = Points::default();
            self.tests.push((live.test.to_string(), 0, 0));
        }
        if let Some(test) = self.tests.last_mut() {
            (test.1, test.2) = (live.packets, live.marks);
        }
        self.losses.push(live.packets as f64, live.marks as f64);
    }

    fn progress(&self, live: &Live) -> (f64, String) {
        let done = live.index as f64 + live.done.min(1.0);
        let label = format!("test {} of {}, {}", live.index + 1, live.tests, live.test);
        (done / live.tests.max(1) as f64, label)
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, live: &Live) {
        let rows = u16::try_from(live.tests)
            .unwrap_or(u16::MAX)
            .saturating_add(2);
        let parts = [Constraint::Max(rows), Constraint::Min(8)];
        let [above, below] = Layout::vertical(parts).areas(area);
        let lines = self.tests.iter().map(|(test, packets, marks)| {
            Line::from(format!(
                "{test:24}{marks:>8} of {packets:>10} packets lost or marked"
            ))
        });
        let block = Block::bordered().title("tests");
        frame.render_widget(
            Paragraph::new(lines.collect::<Vec<_>>()).block(block),
            above,
        );
        let end = self.losses.end().max(10.0);
        let losses = Drawn {
            points: &self.losses,
            colour: COLOURS[1],
            says: live.marks.to_string(),
        };
        let packets = [0.0, end / 2.0, end];
        chart::draw(
            frame,
            below,
            "lost or marked, by packets: ",
            &[losses],
            (&packets, ""),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn;
    use ::mbm::diagnostic::Test;

    #[test]
    fn the_view_shows_every_test_and_the_losses_of_the_last() {
        let live = |index, test, packets, marks| Live {
            test,
            index,
            tests: 3,
            packets,
            marks,
            done: 0.5,
        };
        let news = [
            live(0, Test::PacedFullRate, 10_000, 7),
            live(0, Test::PacedFullRate, 20_000, 9),
            live(1, Test::Background, 300, 1),
        ];
        let shown = drawn(Mbm::new("dsl"), &news, (80, 24), false);
        for wanted in [
            "mbm dsl",
            "9 of      20000 packets lost or marked",
            "1 of        300 packets lost or marked",
            "lost or marked, by packets: 1",
            "test 2 of 3",
        ] {
            assert!(shown.contains(wanted), "{wanted} is not in\n{shown}");
        }
    }
}
