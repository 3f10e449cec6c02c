//! What is to be seen while a run goes on: a progress bar on stderr, if somebody looks at it, and the full screen before it while it
//! is open.

use super::{Screen, View};
use indicatif::{ProgressBar, ProgressDrawTarget};
use kit::bar;
use std::cell::RefCell;

/// What the user has asked to see.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The full screen.
    pub live: bool,
    /// Nothing.
    pub quiet: bool,
}

/// The bar and the screen.
pub struct Display<V: View> {
    bar: ProgressBar,
    screen: RefCell<Option<Screen<V>>>,
    show: fn(&ProgressBar, &V::Live),
}

impl<V: View> Display<V> {
    /// Begins with the full screen if it is wanted; `make` makes the bar, hidden or not, and `show` moves it.
    pub fn start(
        verb: &str,
        wanted: Wanted,
        view: V,
        make: impl FnOnce(bool) -> ProgressBar,
        show: fn(&ProgressBar, &V::Live),
    ) -> Self {
        // A terminal that cannot do it shows the bar instead.
        let screen = wanted.live.then(|| Screen::open(view).ok()).flatten();
        let bar = make(wanted.quiet || screen.is_some());
        if wanted.live && screen.is_none() {
            let (width, height) = super::LEAST;
            let line = format!(
                "{verb}: --live needs a terminal of at least {width} x {height} - showing the bar instead"
            );
            bar::say(&bar, &line, wanted.quiet);
        }
        Self {
            bar,
            screen: RefCell::new(screen),
            show,
        }
    }

    /// Shows how the run goes.
    pub fn show(&self, live: &V::Live) {
        let mut screen = self.screen.borrow_mut();
        if let Some(open) = screen.as_mut() {
            if open.draw(live) {
                return;
            }
            // Left by the user: the run goes on, the bar takes over.
            *screen = None;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        (self.show)(&self.bar, live);
    }

    /// Gives the terminal back.
    pub fn finish(self) {
        drop(self.screen.into_inner());
        self.bar.finish_and_clear();
    }
}
