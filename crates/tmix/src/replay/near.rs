//! A replay between two hosts: this one opens every connection, the other accepts it.
//!
//! The far end is told what it has to say before the first connection, and each connection says its number first of all: an
//! octet-exact replay needs no more than that, and passes whatever translates addresses or lets in only what it knows. Where a
//! connection begins with an ADU of its initiator those 32 octets take the place of the ADU's first ones, so that no octet is
//! on the wire which the vector does not have.
//!
//! Connections meet the path's own round-trip time; a kernel can add to it ([`super::path_rtt`]).

use super::collector::{Collector, Context, Outcome};
use super::connector::{Connector, Introduced};
use super::datagrams::Flows;
use super::engine::{Engine, News, Stage};
use super::messages::{Done, Far, Near, Opening, PER_LINE, Setup, Told};
use super::run::{LEAD, QUEUE};
use super::script;
use super::workload::{Host, Workload};
use anyhow::anyhow;
use kit::control;
use kit::control::{ANSWER, Broken, LOOK};
use kit::far::StopOnDrop;
use kit::instrument::Cpus;
use kit::sampler::Sampler;
use record::RecordWriter;
use session::{Client, ClockOffset, Error};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use sys::clock;
use units::Instant;

/// Exchanges by which the two clocks are compared, and how long these may take: the first waits until all has been told.
const CLOCK_ROUNDS: u32 = 12;
const TELLING: Duration = Duration::from_secs(60);

/// Tells the far end what will be played. This must be followed by the run at once.
///
/// # Errors
/// When it does not answer, or refuses.
pub fn agree(
    client: &mut Client,
    workload: &Workload,
    setup: Setup,
    progress: &dyn Fn(u64),
) -> anyhow::Result<ClockOffset> {
    client.control.send(&Opening::Replay(setup))?;
    expect_ready(client)?;
    let mut line = Vec::with_capacity(PER_LINE);
    for (number, part) in (0..).zip(&workload.parts) {
        for word in script::words(part) {
            line.push(word);
            if line.len() == PER_LINE {
                client
                    .control
                    .send(&Near::Workload(std::mem::take(&mut line)))?;
                progress(number);
            }
        }
    }
    client.control.send(&Near::Workload(line))?;
    // As late as can be, since clocks drift.
    let clock = client.control.measure_clock(CLOCK_ROUNDS, TELLING)?;
    client.control.send(&Near::Go)?;
    expect_ready(client)?;
    Ok(clock)
}

fn expect_ready(client: &mut Client) -> anyhow::Result<()> {
    match client.control.recv(ANSWER)? {
        Far::Ready => Ok(()),
        Far::Refused(reason) => Err(anyhow!("the server refuses: {}", control::plain(&reason))),
        Far::Done(_) | Far::Told(_) => Err(anyhow!("the server sent an unexpected message")),
    }
}

/// Plays with `client`, whose clock is that far from ours, writing what is found to `record` as it comes; and what the far end
/// says of itself, if it does.
///
/// # Errors
/// When this host cannot get ready, or the record cannot be written.
pub fn run(
    context: &Context<'_>,
    clock: ClockOffset,
    client: &mut Client,
    record: &mut RecordWriter,
) -> anyhow::Result<(Outcome, Option<Done>)> {
    let stop = AtomicBool::new(false);
    let stage = Stage {
        parts: &context.workload.parts,
        shares: 1,
        connector: Connector::Introduced(Introduced {
            peer: client.peer,
            dialer: Arc::clone(&client.dialer),
            adds_rtt: context.plan.add_rtt,
        }),
        congestion_control: context.plan.congestion_control.as_deref(),
        stop: &stop,
        begun: AtomicU64::new(0),
        open: AtomicU64::new(0),
        flows: Flows::none(),
    };
    let (tell, news) = mpsc::sync_channel(QUEUE);
    let (cpus, lost, done) = (Cpus::default(), OnceLock::new(), OnceLock::new());
    let outcome = std::thread::scope(|scope| {
        let _stop = StopOnDrop(&stop);
        let _ = clock::timer_slack(1);
        let engine = Engine::new((Host::Client, 0), &stage, None, tell.clone())?;
        let origin = clock::now() + LEAD;
        scope.spawn(move || engine.run(origin));
        let far = Listening {
            client,
            clock,
            tell: tell.clone(),
            stop: &stop,
            origin,
            known: vec![false; stage.parts.len()],
        };
        let (heard, broken) = (&done, &lost);
        scope.spawn(move || {
            match far.listen() {
                Ok(done) => drop(heard.set(done)),
                Err(error) => {
                    let reason = error.reason().unwrap_or_else(|error| error.to_string());
                    drop(broken.set(reason));
                }
            }
            // Whoever waits for the last news knows then how it ended.
            drop(tell);
        });
        let sampler = Sampler::new(origin, "client", &cpus);
        let stopped = &stop;
        scope.spawn(move || sampler.run(stopped));
        Collector::new(context, &stage, record, (origin, &lost), &cpus)?.collect(news)
    })?;
    Ok((outcome, done.into_inner()))
}

/// What hears the far end's news, and tells it when to stop.
struct Listening<'a> {
    client: &'a mut Client,
    clock: ClockOffset,
    tell: SyncSender<News>,
    stop: &'a AtomicBool,
    /// The first planned start.
    origin: Instant,
    /// Connections of which the far end has told.
    known: Vec<bool>,
}

impl Listening<'_> {
    /// Until the far end has said its last word.
    fn listen(mut self) -> Result<Done, Broken> {
        let mut deadline = None;
        loop {
            if self.stop.load(Ordering::Relaxed) && deadline.is_none() {
                control::say(self.client, &Near::Stop)?;
                deadline = Some(clock::now() + ANSWER);
            }
            if deadline.is_some_and(|deadline| clock::now() >= deadline) {
                return Err(Broken::Far("the server did not stop".to_owned()));
            }
            match self.client.control.recv(LOOK) {
                Ok(Far::Told(told)) => self.told(&told),
                Ok(Far::Done(done)) => return Ok(done),
                Ok(Far::Refused(reason)) => return Err(Broken::refused(&reason)),
                Ok(Far::Ready) => return Err(Broken::out_of_turn()),
                Err(Error::Timeout { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn told(&mut self, told: &Told) {
        let mut news = News::default();
        for ended in &told.ends {
            // Another host's numbers: each connection has one end there.
            let known = self.known.get_mut(ended.number() as usize);
            if known.is_some_and(|known| !std::mem::replace(known, true)) {
                news.halves.push(ended.half(self.clock));
            }
        }
        news.heard = told.heard.map(|(octets, at)| {
            // Nothing was heard before the beginning, nor will be tomorrow.
            let at = self.clock.to_ours(Instant::from_nanos(at));
            (Host::Server, at.max(self.origin).min(clock::now()), octets)
        });
        // Nobody listens only when the run is over.
        let _ = self.tell.send(news);
    }
}
