//! The run on the full screen: throughput and round trips as they move.
//!
//! Drawn by the thread that collects the findings, five times a second; it keeps what it has drawn and nothing else. Leaving
//! the view (`q`, Esc) does not stop the run; Ctrl-C does, as everywhere.

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Axis, Block, Chart, Dataset, Gauge, GraphType, Paragraph};
use ratatui::{DefaultTerminal, Frame};
use rrul::Live;
use schema::rrul::Plan;
use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::time::Duration;

/// The smallest screen with room for the plots.
const LEAST: (u16, u16) = (60, 16);
/// Points kept of each line: at five a second, an hour.
const MOST_POINTS: usize = 18_000;
/// Okabe and Ito's colours, which all kinds of sight tell apart.
const DOWN: Color = Color::Rgb(0, 114, 178);
const UP: Color = Color::Rgb(213, 94, 0);
const CLASSES: [Color; 4] = [
    Color::Rgb(0, 158, 115),
    Color::Rgb(230, 159, 0),
    Color::Rgb(204, 121, 167),
    Color::Rgb(86, 180, 233),
];

/// The full screen.
pub(crate) struct Screen {
    terminal: DefaultTerminal,
    plot: Plot,
}

/// What is drawn.
struct Plot {
    name: String,
    total_s: f64,
    load_s: [f64; 2],
    down: Vec<(f64, f64)>,
    up: Vec<(f64, f64)>,
    round_trips: BTreeMap<String, Vec<(f64, f64)>>,
}

impl Screen {
    /// Takes the terminal over.
    ///
    /// # Errors
    ///
    /// When stdout is no terminal, or one that is too small.
    pub(crate) fn open(plan: &Plan) -> io::Result<Self> {
        let (width, height) = ratatui::crossterm::terminal::size()?;
        if !io::stdout().is_terminal() || width < LEAST.0 || height < LEAST.1 {
            return Err(io::ErrorKind::Unsupported.into());
        }
        Ok(Self {
            terminal: ratatui::try_init()?,
            plot: Plot::new(plan),
        })
    }

    /// Draws how the run goes; false when the user has left the view.
    pub(crate) fn draw(&mut self, live: &Live) -> bool {
        self.plot.take(live);
        let drawn = self.terminal.draw(|frame| self.plot.draw(frame, live));
        drawn.is_ok() && !has_left()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

/// Whether a key has been pressed that leaves the view. In raw mode Ctrl-C is a key: it is handed on as the signal it stands
/// for.
fn has_left() -> bool {
    while event::poll(Duration::ZERO).unwrap_or(false) {
        let Ok(Event::Key(KeyEvent {
            code, modifiers, ..
        })) = event::read()
        else {
            continue;
        };
        match code {
            KeyCode::Char('c') if modifiers.contains(KeyModifiers::CONTROL) => {
                sys::process::interrupt_self();
                return true;
            }
            KeyCode::Char('q') | KeyCode::Esc => return true,
            _ => {}
        }
    }
    false
}

impl Plot {
    fn new(plan: &Plan) -> Self {
        Self {
            name: format!("{} - {}", plan.name, plan.summary),
            total_s: plan.total().as_secs_f64(),
            load_s: [
                plan.load_start().as_secs_f64(),
                plan.load_end().as_secs_f64(),
            ],
            down: Vec::new(),
            up: Vec::new(),
            round_trips: BTreeMap::new(),
        }
    }

    fn take(&mut self, live: &Live) {
        let t = live.elapsed.as_secs_f64();
        if self.down.len() >= MOST_POINTS {
            return;
        }
        self.down.push((t, live.down_mbps));
        self.up.push((t, live.up_mbps));
        for (class, ms) in &live.class_rtt_ms {
            let points = self.round_trips.entry(class.clone()).or_default();
            points.push((t, *ms));
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, live: &Live) {
        let rows = [
            Constraint::Length(1),
            Constraint::Fill(1),
            Constraint::Fill(1),
            Constraint::Length(1),
            Constraint::Length(1),
        ];
        let [title, rates, latency, gauge, keys] = Layout::vertical(rows).areas(frame.area());
        frame.render_widget(Line::from(self.name.clone()).bold(), title);
        self.rates(frame, rates, live);
        self.latency(frame, latency);
        let done = (live.elapsed.as_secs_f64() / self.total_s.max(1e-9)).clamp(0.0, 1.0);
        let left = (self.total_s - live.elapsed.as_secs_f64()).max(0.0);
        let bar = Gauge::default()
            .ratio(done)
            .label(format!("{}, {left:.0} s left", live.phase));
        frame.render_widget(bar, gauge);
        let page = live
            .page_ms
            .map_or_else(String::new, |ms| format!("last page {ms:.0} ms   "));
        frame.render_widget(
            Paragraph::new(format!(
                "{page}q leaves this view, the run goes on; Ctrl-C ends it"
            )),
            keys,
        );
    }

    fn rates(&self, frame: &mut Frame<'_>, area: Rect, live: &Live) {
        let sets = vec![line(&self.down, DOWN), line(&self.up, UP)];
        let title = Line::from(vec![
            Span::raw("throughput, Mbit/s: "),
            Span::styled(format!("down {:.1} ", live.down_mbps), DOWN),
            Span::styled(format!("up {:.1} ", live.up_mbps), UP),
        ]);
        let most = highest([&self.down, &self.up].into_iter().flatten());
        self.chart(frame, area, title, most, sets);
    }

    fn latency(&self, frame: &mut Frame<'_>, area: Rect) {
        let lines = self.round_trips.iter().zip(CLASSES.iter().cycle());
        let (sets, labels): (Vec<_>, Vec<_>) = lines
            .map(|((class, points), colour)| {
                let last = points.last().map_or(0.0, |(_, ms)| *ms);
                let label = Span::styled(format!("{class} {last:.1} "), *colour);
                (line(points, *colour), label)
            })
            .unzip();
        let mut title = Line::from("round trips by class, ms: ");
        title.extend(labels);
        let most = highest(self.round_trips.values().flatten());
        self.chart(frame, area, title, most, sets);
    }

    fn chart(
        &self,
        frame: &mut Frame<'_>,
        area: Rect,
        title: Line<'_>,
        most: f64,
        sets: Vec<Dataset<'_>>,
    ) {
        let seconds = [0.0, self.load_s[0], self.load_s[1], self.total_s];
        let x = Axis::default()
            .bounds([0.0, self.total_s])
            .labels(seconds.map(|s| format!("{s:.0} s")));
        let y = Axis::default()
            .bounds([0.0, most])
            .labels([0.0, most / 2.0, most].map(|value| format!("{value:.0}")));
        let chart = Chart::new(sets)
            .block(Block::bordered().title(title))
            .x_axis(x)
            .y_axis(y);
        frame.render_widget(chart, area);
    }
}

fn line(points: &[(f64, f64)], colour: Color) -> Dataset<'_> {
    Dataset::default()
        .marker(Marker::Braille)
        .graph_type(GraphType::Line)
        .style(Style::default().fg(colour))
        .data(points)
}

/// The highest point, with some room above it.
fn highest<'a>(points: impl Iterator<Item = &'a (f64, f64)>) -> f64 {
    points.map(|(_, y)| *y).fold(1.0, f64::max) * 1.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    #[test]
    fn the_view_shows_rates_round_trips_and_how_to_leave() {
        let mut plot = Plot::new(&rrul::catalogue::find("rrul").unwrap());
        let mut live = Live {
            elapsed: Duration::from_secs(1),
            phase: "load",
            down_mbps: 19.3,
            up_mbps: 4.4,
            class_rtt_ms: vec![("EF".to_owned(), 231.0), ("CS0".to_owned(), 230.0)],
            page_ms: Some(4_321.0),
            rtt_ms: Some(231.0),
        };
        for second in 1..30 {
            live.elapsed = Duration::from_secs(second);
            plot.take(&live);
        }
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        terminal.draw(|frame| plot.draw(frame, &live)).unwrap();
        let shown = terminal.backend().to_string();
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
