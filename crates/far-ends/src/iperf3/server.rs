//! The server's end of the control connection.

use super::wire::{Inbox, write};
use super::{COOKIE, Params, Results, State};

/// As much as a client may say of what it wants, and of what it saw.
const LONGEST_PARAMS: usize = 8 << 10;
const LONGEST_RESULTS: usize = 256 << 10;
/// iperf3's number of an object that cannot be read, and of parameters that cannot.
const NO_MESSAGE: u32 = 110;
const NO_PARAMS: u32 = 114;

/// What a server is asked for, or has learnt.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// A test of this name: [`Server::accept`] it or [`Server::refuse`] it.
    Test([u8; COOKIE], Params),
    /// The client's time is over: stop, and [`Server::tell`] what was seen.
    End,
    /// What the client saw. The test is over.
    Results(Results),
    /// The client gave the test up.
    GaveUp,
    /// It cannot be talked to, for this reason.
    Failed(String),
}

/// A server of one test.
///
/// Calling order as with [`super::Client`]. When all streams of an accepted test are there, call [`Server::run`].
#[derive(Debug, Default)]
pub struct Server {
    inbox: Inbox,
    output: Vec<u8>,
    stage: Stage,
    params: Params,
    cookie: Option<[u8; COOKIE]>,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Stage {
    #[default]
    Cookie,
    Params,
    /// States come; the test is being prepared or runs.
    States,
    /// The caller tells what was seen.
    Telling,
    /// The client's results come.
    Results,
    Over,
}

impl Server {
    /// What is to be sent now.
    pub fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output)
    }

    /// Takes what has come. What is longer than any message is not kept.
    pub fn handle(&mut self, octets: &[u8]) {
        let has_room = self.inbox.len() + octets.len() <= 2 * LONGEST_RESULTS;
        if self.stage != Stage::Over && has_room {
            self.inbox.push(octets);
        }
    }

    /// Takes the test on: the client opens its streams.
    pub fn accept(&mut self) {
        self.say(State::CreateStreams);
    }

    /// Does not, by one of iperf3's numbers.
    pub fn refuse(&mut self, number: u32) {
        if self.stage != Stage::Over {
            self.say(State::ServerError);
            self.output.extend(number.to_be_bytes());
            self.output.extend(0_u32.to_be_bytes());
            self.stage = Stage::Over;
        }
    }

    /// All streams are there.
    pub fn run(&mut self) {
        self.say(State::TestStart);
        self.say(State::TestRunning);
    }

    /// What was seen here, after [`Asked::End`].
    pub fn tell(&mut self, results: &Results) {
        if self.stage == Stage::Telling {
            self.say(State::ExchangeResults);
            // The client waits for ours once it has sent its own.
            write(&results.to_json(), &mut self.output);
            self.say(State::DisplayResults);
            self.stage = Stage::Results;
        }
    }

    fn say(&mut self, state: State) {
        self.output.push(state.octet());
    }

    /// What there is to do.
    pub fn poll_event(&mut self) -> Option<Asked> {
        let step = match self.stage {
            Stage::Cookie => self.opening(),
            Stage::Params => self.asked(),
            Stage::States => self.state(),
            Stage::Results => self.their_results(),
            Stage::Telling | Stage::Over => return None,
        };
        step.unwrap_or_else(|(number, reason)| {
            self.refuse(number);
            Some(Asked::Failed(reason))
        })
    }

    fn opening(&mut self) -> Result<Option<Asked>, (u32, String)> {
        let Some(cookie) = self.inbox.cookie() else {
            return Ok(None);
        };
        self.cookie = Some(cookie);
        self.say(State::ParamExchange);
        self.stage = Stage::Params;
        self.asked()
    }

    fn asked(&mut self) -> Result<Option<Asked>, (u32, String)> {
        let json = self.inbox.json(LONGEST_PARAMS);
        let Some(json) = json.map_err(|reason| (NO_PARAMS, reason))? else {
            return Ok(None);
        };
        let read = Params::read(&json);
        self.params =
            read.map_err(|number| (number, format!("requested an unsupported test ({number})")))?;
        self.stage = Stage::States;
        let cookie = self.cookie.unwrap_or([0; COOKIE]);
        Ok(Some(Asked::Test(cookie, self.params.clone())))
    }

    fn state(&mut self) -> Result<Option<Asked>, (u32, String)> {
        let wrong = |reason| (NO_MESSAGE, reason);
        let Some(state) = self.inbox.state().map_err(wrong)? else {
            return Ok(None);
        };
        match state {
            State::TestEnd => {
                self.stage = Stage::Telling;
                Ok(Some(Asked::End))
            }
            State::ClientTerminate | State::IperfDone => {
                self.stage = Stage::Over;
                Ok(Some(Asked::GaveUp))
            }
            _ => Err(wrong("the client sent an unexpected message".to_owned())),
        }
    }

    fn their_results(&mut self) -> Result<Option<Asked>, (u32, String)> {
        let json = self.inbox.json(LONGEST_RESULTS);
        let Some(json) = json.map_err(|reason| (NO_MESSAGE, reason))? else {
            return Ok(None);
        };
        self.stage = Stage::Over;
        Ok(Some(Asked::Results(Results::read(&json, &self.params))))
    }
}
