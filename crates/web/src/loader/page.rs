//! How far a browser has got with a page: what it has found, and what it waits for.
//!
//! | what comes in | what it reveals |
//! |---|---|
//! | octets of the document | the objects whose tags they complete (a browser's preload scanner looks ahead of the parser) |
//! | a style sheet or script of the document, whole | its objects, once all style sheets and scripts before it have been dealt with: a parser waits for scripts, and those for style sheets |
//! | any other style sheet or script, whole | its objects |
//!
//! The page is *loaded* when everything found is there but for what scripts fetch, which the load event
//! does not wait for (HTML, section "the end"), and *finished* when that is there too.
//!
//! Calls: [`Page::handle_octets`] for the document's, [`Page::handle_end`] once for every object, and after
//! each of them [`Page::poll_found`] until it has no more.

use crate::model::PageModel;
use crate::result::Kind;
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    Hidden,
    Found,
    Whole,
    Failed,
}

/// A page while it is loaded.
#[derive(Debug)]
pub(super) struct Page<'a> {
    model: &'a PageModel,
    /// Octets of the document, and the object that is found with that many.
    reveals: VecDeque<(u64, u16)>,
    /// Style sheets and scripts of the document that have not been dealt with, in its order.
    in_turn: VecDeque<u16>,
    states: Vec<State>,
    found: VecDeque<u16>,
}

impl<'a> Page<'a> {
    /// A page of which the document's address is known; `reveals` as in the document's layout.
    pub(super) fn new(model: &'a PageModel, reveals: Vec<(u64, u16)>) -> Self {
        let is_in_turn = |number: &u16| {
            let kind = model.object(*number).map(|object| object.kind);
            matches!(kind, Some(Kind::Style | Kind::Script))
        };
        let numbers = reveals.iter().map(|(_, number)| *number);
        let mut page = Self {
            in_turn: numbers.filter(is_in_turn).collect(),
            reveals: reveals.into(),
            states: vec![State::Hidden; model.objects().len()],
            found: VecDeque::new(),
            model,
        };
        page.find(0);
        page
    }

    /// `total` octets of the document have come.
    pub(super) fn handle_octets(&mut self, total: u64) {
        while let Some((_, number)) = self.reveals.pop_front_if(|(end, _)| *end <= total) {
            self.find(number);
        }
    }

    /// `number` is there, or never will be.
    pub(super) fn handle_end(&mut self, number: u16, is_whole: bool) {
        let Some(state) = self.states.get_mut(usize::from(number)) else {
            return;
        };
        *state = if is_whole {
            State::Whole
        } else {
            State::Failed
        };
        let parent = self.model.object(number).and_then(|object| object.after);
        match parent {
            None if is_whole => self.handle_octets(u64::MAX),
            None => {}
            Some(0) => self.take_turns(),
            Some(_) => self.reveal(number),
        }
    }

    /// The next object that has been found.
    pub(super) fn poll_found(&mut self) -> Option<u16> {
        self.found.pop_front()
    }

    /// Whether a style sheet or script in the head keeps the browser from showing anything.
    pub(super) fn is_blocked(&self) -> bool {
        let is_in_head = |number: &&u16| {
            let object = self.model.object(**number);
            object.is_some_and(|object| object.place == 0)
        };
        let head = self.in_turn.iter().take_while(is_in_head);
        head.into_iter().any(|number| self.is_awaited(*number))
    }

    /// Whether the load event has been reached.
    pub(super) fn is_loaded(&self) -> bool {
        let fetched = |number: &u16| {
            let object = self.model.object(*number);
            object.is_some_and(|object| object.kind == Kind::Fetch)
        };
        self.awaited().all(|number| fetched(&number))
    }

    /// Whether nothing more is to come.
    pub(super) fn is_finished(&self) -> bool {
        self.awaited().next().is_none()
    }

    /// Objects that are not there: not found, not come yet, or failed.
    pub(super) fn missing(&self) -> usize {
        let missing = |state: &&State| **state != State::Whole;
        self.states.iter().filter(missing).count()
    }

    fn awaited(&self) -> impl Iterator<Item = u16> {
        let numbered = (0_u16..).zip(&self.states);
        let awaited = numbered.filter(|(_, state)| **state == State::Found);
        awaited.map(|(number, _)| number)
    }

    fn is_awaited(&self, number: u16) -> bool {
        self.state(number) == State::Found
    }

    fn state(&self, number: u16) -> State {
        let state = self.states.get(usize::from(number));
        state.copied().unwrap_or(State::Failed)
    }

    /// Deals with what the document names, in its order, as far as it is there.
    fn take_turns(&mut self) {
        while let Some(&number) = self.in_turn.front() {
            if matches!(self.state(number), State::Hidden | State::Found) {
                return;
            }
            self.in_turn.pop_front();
            self.reveal(number);
        }
    }

    /// Finds what `parent` names, if it is there.
    fn reveal(&mut self, parent: u16) {
        if self.state(parent) == State::Whole {
            let model = self.model;
            for (number, _) in model.revealed_by(parent) {
                self.find(number);
            }
        }
    }

    fn find(&mut self, number: u16) {
        let state = self.states.get_mut(usize::from(number));
        if let Some(state @ State::Hidden) = state {
            *state = State::Found;
            self.found.push_back(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::{Urls, layout};

    fn reveals(model: &PageModel) -> Vec<(u64, u16)> {
        let urls = Urls::OfHosts {
            token: 1,
            port: 443,
        };
        layout(model, 0, urls).reveals
    }

    fn found(page: &mut Page<'_>) -> Vec<u16> {
        std::iter::from_fn(|| page.poll_found()).collect()
    }

    const MODEL: &str = r#"
        name = "m"
        summary = ""
        hosts = ["www"]
        object = [
            { kind = "document", host = "www", size = "10kB" },
            { id = "css", kind = "style", host = "www", size = "1kB" },
            { id = "js", kind = "script", host = "www", size = "2kB" },
            { kind = "image", host = "www", size = "1kB", place = 50 },
            { kind = "font", host = "www", size = "1kB", after = "css" },
            { kind = "fetch", host = "www", size = "1kB", after = "js" },
            { id = "more", kind = "script", host = "www", size = "2kB", after = "js" },
            { kind = "image", host = "www", size = "1kB", after = "more" },
        ]
    "#;

    #[test]
    fn objects_are_found_where_a_browser_finds_them() {
        let model = PageModel::parse(MODEL, "m").unwrap();
        let mut page = Page::new(&model, reveals(&model));
        assert_eq!(found(&mut page), [0]);
        page.handle_octets(100);
        assert!(found(&mut page).is_empty());
        page.handle_octets(2_000);
        assert_eq!(found(&mut page), [1, 2]);
        assert!(page.is_blocked());
        page.handle_end(2, true);
        assert!(
            found(&mut page).is_empty(),
            "the script waits for the style sheet"
        );
        page.handle_end(1, true);
        assert_eq!(found(&mut page), [4, 5, 6]);
        assert!(!page.is_blocked());
        page.handle_end(0, true);
        assert_eq!(found(&mut page), [3]);
        for number in [3, 4, 6] {
            assert!(!page.is_loaded());
            page.handle_end(number, true);
        }
        assert_eq!(found(&mut page), [7], "by a script that a script brought");
        page.handle_end(7, true);
        assert!(page.is_loaded() && !page.is_finished(), "a fetch is out");
        page.handle_end(5, true);
        assert!(page.is_finished());
        assert_eq!(page.missing(), 0);
    }

    #[test]
    fn what_fails_reveals_nothing_and_holds_nothing_up() {
        let model = PageModel::parse(MODEL, "m").unwrap();
        let mut page = Page::new(&model, reveals(&model));
        page.handle_octets(10_000);
        page.handle_end(0, true);
        page.handle_end(1, false);
        page.handle_end(2, true);
        assert_eq!(found(&mut page), [0, 1, 2, 3, 5, 6]);
        for number in [3, 5, 6] {
            page.handle_end(number, false);
        }
        assert!(page.is_finished());
        assert_eq!(page.missing(), 6);
    }

    #[test]
    fn every_object_of_the_built_in_pages_is_found_once() {
        for name in PageModel::names() {
            let model = PageModel::find(name).unwrap();
            let mut page = Page::new(&model, reveals(&model));
            let mut all = Vec::new();
            while let Some(number) = page.poll_found() {
                all.push(number);
                page.handle_end(number, true);
            }
            all.sort_unstable();
            assert!(
                all.into_iter()
                    .eq(0..u16::try_from(model.objects().len()).unwrap())
            );
            assert!(page.is_finished());
        }
    }
}
