//! Latency under load: throughput and round trips as they move.

use super::View;
use super::chart::{self, COLOURS, Drawn, Points};
use ::rrul::Live;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use schema::rrul::Plan;
use std::collections::BTreeMap;

/// Throughput each way and round trips by class.
pub struct Rrul {
    name: String,
    total_s: f64,
    load_s: [f64; 2],
    down: Points,
    up: Points,
    round_trips: BTreeMap<String, Points>,
}

impl Rrul {
    /// Nothing yet, of a run by `plan`.
    pub fn new(plan: &Plan) -> Self {
        Self {
            name: format!("{} - {}", plan.name, plan.summary),
            total_s: plan.total().as_secs_f64(),
            load_s: [
                plan.load_start().as_secs_f64(),
                plan.load_end().as_secs_f64(),
            ],
            down: Points::default(),
            up: Points::default(),
            round_trips: BTreeMap::new(),
        }
    }
}

impl View for Rrul {
    type Live = Live;

    fn title(&self) -> String {
        self.name.clone()
    }

    fn take(&mut self, live: &Live, _: f64) {
        let t = live.elapsed.as_secs_f64();
        self.down.push(t, live.down_mbps);
        self.up.push(t, live.up_mbps);
        for (class, ms) in &live.class_rtt_ms {
            self.round_trips
                .entry(class.clone())
                .or_default()
                .push(t, *ms);
        }
    }

    fn progress(&self, live: &Live) -> (f64, String) {
        let elapsed = live.elapsed.as_secs_f64();
        let left = (self.total_s - elapsed).max(0.0);
        let page = live
            .page_ms
            .map_or_else(String::new, |ms| format!(", last page {ms:.0} ms"));
        let label = format!("{}, {left:.0} s left{page}", live.phase);
        (elapsed / self.total_s.max(1e-9), label)
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, live: &Live) {
        let [rates, latency] = Layout::vertical([Constraint::Fill(1); 2]).areas(area);
        let seconds = [0.0, self.load_s[0], self.load_s[1], self.total_s];
        let x = (&seconds[..], " s");
        let both = [
            Drawn {
                points: &self.down,
                colour: COLOURS[0],
                says: format!("down {:.1}", live.down_mbps),
            },
            Drawn {
                points: &self.up,
                colour: COLOURS[1],
                says: format!("up {:.1}", live.up_mbps),
            },
        ];
        chart::draw(frame, rates, "throughput, Mbit/s: ", &both, x);
        let classes = self.round_trips.iter().zip(COLOURS[2..].iter().cycle());
        let classes = classes.map(|((class, points), colour)| Drawn {
            points,
            colour: *colour,
            says: format!("{class} {:.1}", points.last().unwrap_or_default()),
        });
        let classes: Vec<_> = classes.collect();
        chart::draw(frame, latency, "round trips by class, ms: ", &classes, x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn;
    use std::time::Duration;

    #[test]
    fn the_view_shows_rates_round_trips_and_pages() {
        let live = |second| Live {
            elapsed: Duration::from_secs(second),
            phase: "load",
            down_mbps: 19.3,
            up_mbps: 4.4,
            class_rtt_ms: vec![("EF".to_owned(), 231.0), ("CS0".to_owned(), 230.0)],
            page_ms: Some(4_321.0),
            rtt_ms: Some(231.0),
        };
        let news: Vec<_> = (1..30).map(live).collect();
        let plan = ::rrul::catalogue::find("rrul").unwrap();
        let shown = drawn(Rrul::new(&plan), &news, (80, 24), false);
        for wanted in [
            "down 19.3 up 4.4",
            "round trips by class, ms",
            "CS0 230.0 EF 231.0",
            "last page 4321 ms",
            "q leaves",
        ] {
            assert!(shown.contains(wanted), "{wanted} is not in\n{shown}");
        }
    }
}
