//! The client's end of the control connection.

use super::wire::{Inbox, write};
use super::{COOKIE, Params, Results, State, meaning};

/// A server that tells more than this tells no results. (It may add what it printed.)
const LONGEST_RESULTS: usize = 4 << 20;

/// What a client is to do, or has learnt.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Open the streams, in the order of their numbers, each with the cookie in front.
    OpenStreams,
    /// Send and receive.
    Run,
    /// The server ends the test: [`Client::end`] is to be called if it was not.
    Ended,
    /// What the server saw. The test is over.
    Results(Results),
    /// The server is busy with another test.
    Busy,
    /// There will be no results, for this reason.
    Failed(String),
}

/// A client of one test.
///
/// Calling order: send [`Client::take_output`] whenever there is something; give what comes to [`Client::handle`]; then call
/// [`Client::poll_event`] until it has nothing more. When the test's time is over, [`Client::end`].
#[derive(Debug)]
pub struct Client {
    params: Params,
    inbox: Inbox,
    output: Vec<u8>,
    stage: Stage,
    /// What we saw, from the end of the test on.
    results: Option<Results>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Stage {
    /// States come.
    States,
    /// The server's results come.
    Results,
    /// An error's two numbers come.
    Error,
    /// Nothing that comes means anything.
    Over,
}

impl Client {
    /// A client that asks for a test of `params`.
    pub fn new(cookie: [u8; COOKIE], params: Params) -> Self {
        Self {
            params,
            inbox: Inbox::default(),
            output: cookie.to_vec(),
            stage: Stage::States,
            results: None,
        }
    }

    /// What is to be sent now.
    pub fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output)
    }

    /// Takes what has come.
    pub fn handle(&mut self, octets: &[u8]) {
        if self.stage != Stage::Over {
            self.inbox.push(octets);
        }
    }

    /// The test's time is over: these are our results.
    pub fn end(&mut self, results: Results) {
        if self.results.is_none() && self.stage != Stage::Over {
            self.output.push(State::TestEnd.octet());
            self.results = Some(results);
        }
    }

    /// Gives the test up.
    pub fn give_up(&mut self) {
        if self.stage != Stage::Over {
            self.stage = Stage::Over;
            self.output.push(State::ClientTerminate.octet());
        }
    }

    /// What there is to do.
    pub fn poll_event(&mut self) -> Option<Event> {
        let step = match self.stage {
            Stage::States => self.state(),
            Stage::Results => self.their_results(),
            Stage::Error => Ok(self.their_error()),
            Stage::Over => return None,
        };
        step.unwrap_or_else(|reason| {
            self.stage = Stage::Over;
            Some(Event::Failed(reason))
        })
    }

    /// Goes through states until one of them means something to the caller.
    fn state(&mut self) -> Result<Option<Event>, String> {
        while let Some(state) = self.inbox.state()? {
            match state {
                State::ParamExchange => write(&self.params.to_json(), &mut self.output),
                State::CreateStreams => return Ok(Some(Event::OpenStreams)),
                State::TestStart => {}
                State::TestRunning => return Ok(Some(Event::Run)),
                State::ExchangeResults => {
                    // A server whose sender has sent all it was to send ends the test itself.
                    let Some(results) = &self.results else {
                        return Err("the server ended the test too early".to_owned());
                    };
                    write(&results.to_json(), &mut self.output);
                    self.stage = Stage::Results;
                    return self.their_results();
                }
                State::AccessDenied => {
                    self.stage = Stage::Over;
                    return Ok(Some(Event::Busy));
                }
                State::ServerError => {
                    self.stage = Stage::Error;
                    return Ok(self.their_error());
                }
                State::ServerTerminate => return Err("the server has been stopped".to_owned()),
                State::TestEnd => return Ok(Some(Event::Ended)),
                State::ClientTerminate | State::DisplayResults | State::IperfDone => {
                    return Err("the server sent an unexpected message".to_owned());
                }
            }
        }
        Ok(None)
    }

    fn their_results(&mut self) -> Result<Option<Event>, String> {
        let Some(json) = self.inbox.json(LONGEST_RESULTS)? else {
            return Ok(None);
        };
        // Its next state would be to show them.
        self.output.push(State::IperfDone.octet());
        self.stage = Stage::Over;
        Ok(Some(Event::Results(Results::read(&json, &self.params))))
    }

    fn their_error(&mut self) -> Option<Event> {
        if self.inbox.len() < 8 {
            return None;
        }
        let number = self.inbox.number()?;
        self.stage = Stage::Over;
        Some(Event::Failed(meaning(number)))
    }
}
