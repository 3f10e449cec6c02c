//! A run on the full screen: one frame for all measurements, in it a view of what matters of each.
//!
//! The frame has the run's name at the top, a gauge and the keys at the foot, and the view between them. It is drawn by the thread
//! that collects the findings whenever there is news, a few times a second, and keeps what it has drawn and nothing else. Leaving the
//! view (`q`, Esc) does not stop the run; Ctrl-C does, as everywhere. `?` tells the keys. The screen may change its size at any time.
//!
//! A [`View`] takes the news of one measurement and draws them: [`rrul`], [`btc`], [`estimate`], [`mbm`], [`replay`]. [`Display`] is
//! the frame while it is open, and a progress bar before a user who has left it or never asked for it.

mod btc;
mod chart;
mod display;
mod estimate;
mod mbm;
mod replay;
mod rrul;

pub use btc::Btc;
pub use display::{Display, Wanted};
pub use estimate::Estimate;
pub use mbm::Mbm;
pub use replay::Replay;
pub use rrul::Rrul;

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Stylize;
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, Gauge, Paragraph};
use ratatui::{DefaultTerminal, Frame};
use std::io::{self, IsTerminal};
use std::time::Duration;
use units::Instant;

/// The smallest screen with room for a view.
const LEAST: (u16, u16) = (60, 16);
const KEYS: &str = "q leaves this view, the run goes on; Ctrl-C ends it; ? help";
const HELP: [&str; 5] = [
    "q, Esc   leave this view; a progress bar takes over",
    "Ctrl-C   end the run; what was measured is kept",
    "?        show or hide this help",
    "",
    "The scorecard follows when the run is over.",
];

/// What is drawn of one measurement.
pub trait View {
    /// What the measurement tells while it runs.
    type Live;

    /// What is measured.
    fn title(&self) -> String;

    /// Takes news in that came `t` seconds after the first.
    fn take(&mut self, live: &Self::Live, t: f64);

    /// Which share of the run is over, and what is said of that.
    fn progress(&self, live: &Self::Live) -> (f64, String);

    /// Draws what is known.
    fn draw(&self, frame: &mut Frame<'_>, area: Rect, live: &Self::Live);
}

/// The full screen.
struct Screen<V> {
    terminal: DefaultTerminal,
    shown: Shown<V>,
    opened: Instant,
}

/// What the screen shows.
struct Shown<V> {
    view: V,
    helps: bool,
}

impl<V: View> Screen<V> {
    /// Takes the terminal over.
    ///
    /// # Errors
    ///
    /// When stdout is no terminal, or one that is too small.
    fn open(view: V) -> io::Result<Self> {
        let (width, height) = ratatui::crossterm::terminal::size()?;
        if !io::stdout().is_terminal() || width < LEAST.0 || height < LEAST.1 {
            return Err(io::ErrorKind::Unsupported.into());
        }
        Ok(Self {
            terminal: ratatui::try_init()?,
            shown: Shown { view, helps: false },
            opened: sys::clock::now(),
        })
    }

    /// Draws how the run goes; false when the user has left the view.
    fn draw(&mut self, live: &V::Live) -> bool {
        let t = sys::clock::now().since(self.opened);
        self.shown.view.take(live, t.as_secs_f64());
        while let Some(key) = pressed() {
            match key {
                Key::Leave => return false,
                Key::Help => self.shown.helps = !self.shown.helps,
            }
        }
        let drawn = self.terminal.draw(|frame| self.shown.draw(frame, live));
        drawn.is_ok()
    }
}

impl<V> Drop for Screen<V> {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

enum Key {
    Leave,
    Help,
}

/// The next key that means something. In raw mode Ctrl-C is a key: it is handed on as the signal it stands for.
fn pressed() -> Option<Key> {
    while event::poll(Duration::ZERO).unwrap_or(false) {
        let Ok(Event::Key(key)) = event::read() else {
            continue;
        };
        if let Some(key) = meaning(key) {
            return Some(key);
        }
    }
    None
}

fn meaning(key: KeyEvent) -> Option<Key> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    match key.code {
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => {
            sys::process::interrupt_self();
            Some(Key::Leave)
        }
        KeyCode::Char('q') | KeyCode::Esc => Some(Key::Leave),
        KeyCode::Char('?') => Some(Key::Help),
        _ => None,
    }
}

impl<V: View> Shown<V> {
    fn draw(&self, frame: &mut Frame<'_>, live: &V::Live) {
        let rows = [
            Constraint::Length(1),
            Constraint::Fill(1),
            Constraint::Length(1),
            Constraint::Length(1),
        ];
        let [title, view, gauge, keys] = Layout::vertical(rows).areas(frame.area());
        frame.render_widget(Line::from(self.view.title()).bold(), title);
        self.view.draw(frame, view, live);
        let (share, label) = self.view.progress(live);
        // A share that is no number is none.
        let share = if share.is_nan() {
            0.0
        } else {
            share.clamp(0.0, 1.0)
        };
        frame.render_widget(Gauge::default().ratio(share).label(label), gauge);
        frame.render_widget(Paragraph::new(KEYS), keys);
        if self.helps {
            help(frame, view);
        }
    }
}

/// The keys, over the middle of the view.
fn help(frame: &mut Frame<'_>, over: Rect) {
    let lines = HELP.map(Line::from).to_vec();
    let [area] = Layout::vertical([Constraint::Length(7)])
        .flex(ratatui::layout::Flex::Center)
        .areas(over);
    let [area] = Layout::horizontal([Constraint::Length(56)])
        .flex(ratatui::layout::Flex::Center)
        .areas(area);
    frame.render_widget(Clear, area);
    let block = Block::bordered().title("keys");
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

/// What a view draws after these news, a second apart, on a screen of that size; also drawn on screens that are too small.
#[cfg(test)]
fn drawn<V: View>(view: V, news: &[V::Live], (width, height): (u16, u16), helps: bool) -> String {
    let mut shown = Shown { view, helps };
    let backend = ratatui::backend::TestBackend::new(width, height);
    let mut terminal = ratatui::Terminal::new(backend).unwrap();
    for (t, live) in (0_u32..).zip(news) {
        shown.view.take(live, f64::from(t));
        terminal.draw(|frame| shown.draw(frame, live)).unwrap();
    }
    for (width, height) in [(1, 1), (5, 3), (20, 2), (30, 9), (300, 100)] {
        let backend = ratatui::backend::TestBackend::new(width, height);
        let mut other = ratatui::Terminal::new(backend).unwrap();
        let last = news.last().unwrap();
        other.draw(|frame| shown.draw(frame, last)).unwrap();
    }
    terminal.backend().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;

    impl View for Nothing {
        type Live = f64;

        fn title(&self) -> String {
            "a run".to_owned()
        }

        fn take(&mut self, _: &f64, _: f64) {}

        fn progress(&self, share: &f64) -> (f64, String) {
            (*share, format!("{share:.0} of 1"))
        }

        fn draw(&self, _: &mut Frame<'_>, _: Rect, _: &f64) {}
    }

    #[test]
    fn the_frame_names_the_run_and_the_keys_and_helps_when_asked() {
        let screen = drawn(Nothing, &[f64::NAN, 1.0], (80, 24), false);
        for wanted in ["a run", "1 of 1", KEYS] {
            assert!(screen.contains(wanted), "{wanted} is not in\n{screen}");
        }
        assert!(!screen.contains(HELP[0]));
        assert!(drawn(Nothing, &[1.0], (80, 24), true).contains(HELP[0]));
    }
}
