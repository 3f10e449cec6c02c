//! Thousands of agents of a fleet, as NATS sees them, in one process: connections, presence, a revision of a fleet, and outcomes handed over,
//! beside plain messages of the same length over the same connections to a plain stream of the same server. `bench/fleet` starts it.
//!
//! Each of [`THREADS`] has its share of the agents, and they go from one part to the next together; the first of them asks and tells.
//!
//!     crowd nats://127.0.0.1 AGENTS OUTCOMES-OF-EACH TURNS

use anyhow::{Context as _, anyhow, bail};
use async_nats::jetstream::{self, stream};
use futures_util::{StreamExt as _, TryStreamExt as _, stream as futures};
use isobath_fleet::bus::{Access, Bus, connect};
use isobath_fleet::messages::Presence;
use isobath_fleet::outcome::{Became, Outcome, Times};
use isobath_fleet::revisions::Document;
use isobath_fleet::{Identity, Moment, Name, RunId};
use serde_json::json;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use sys::clock;
use tokio::sync::Barrier;
use tokio::task::LocalSet;

/// One for each processor that the bench is about.
const THREADS: usize = 2;
/// Agents of a thread that connect at once.
const AT_ONCE: usize = 100;
/// From one word of presence to the next, as agents do.
const BEAT: Duration = Duration::from_secs(5);
/// The plain stream.
const PLAIN: &str = "plain";

struct Agent {
    name: Name,
    bus: Bus,
    plain: jetstream::Context,
}

fn main() -> anyhow::Result<()> {
    let words: Vec<_> = std::env::args().skip(1).collect();
    let [nats, agents, each, turns] = &words[..] else {
        bail!("crowd NATS AGENTS OUTCOMES-OF-EACH TURNS");
    };
    let share = Share {
        nats: nats.clone(),
        all: agents.parse()?,
        number: 0,
        together: Arc::new(Barrier::new(THREADS)),
    };
    let (each, turns) = (each.parse()?, turns.parse()?);
    let threads: Vec<_> = (0..THREADS)
        .map(|number| {
            let share = Share {
                number,
                ..share.clone()
            };
            thread::spawn(move || share.run(each, turns))
        })
        .collect();
    threads
        .into_iter()
        .try_for_each(|thread| thread.join().map_err(|_| anyhow!("a thread panicked"))?)
}

/// What one thread has of the crowd.
#[derive(Clone)]
struct Share {
    nats: String,
    /// Agents of all threads.
    all: usize,
    /// Of the thread.
    number: usize,
    together: Arc<Barrier>,
}

impl Share {
    fn run(&self, each: usize, turns: usize) -> anyhow::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let outcome = LocalSet::new().block_on(&runtime, crowd(self, each, turns));
        if let Err(error) = &outcome {
            // The others would wait for this one.
            eprintln!("{error:#}");
            std::process::exit(1);
        }
        outcome
    }

    fn agents(&self) -> impl Iterator<Item = usize> {
        (self.number..self.all).step_by(THREADS)
    }

    const fn tells(&self) -> bool {
        self.number == 0
    }

    /// Carries out what each thread has to do, and how long it takes until all have, in seconds.
    async fn together<T>(
        &self,
        work: impl Future<Output = anyhow::Result<T>>,
    ) -> anyhow::Result<(T, f64)> {
        self.together.wait().await;
        let began = clock::now();
        let done = work.await?;
        self.together.wait().await;
        Ok((done, clock::now().since(began).as_secs_f64()))
    }
}

async fn crowd(share: &Share, each: usize, turns: usize) -> anyhow::Result<()> {
    let count = share.all;
    let place = tempfile::tempdir()?;
    let identity = Identity::read_or_make(&place.path().join("crowd.nk"))?;
    let access = &Access::at(&share.nats);
    let agents = futures::iter(share.agents()).map(async |number| {
        let name: Name = format!("host-{number}").parse()?;
        let connection = connect(access, name.as_str(), Some(&name)).await?;
        let bus = Bus::on(&connection).await?;
        let plain = jetstream::new(connection.client().clone());
        anyhow::Ok(Rc::new(Agent { name, bus, plain }))
    });
    let agents = agents.buffer_unordered(AT_ONCE).try_collect::<Vec<_>>();
    let (agents, seconds) = share.together(agents).await?;
    if share.tells() {
        println!("connected {seconds:.1} s");
    }

    // Each says that it is there, and goes on saying so.
    for (number, agent) in agents.iter().cloned().enumerate() {
        let phase = BEAT.mul_f64(number as f64 / agents.len() as f64);
        tokio::task::spawn_local(async move {
            tokio::time::sleep(phase).await;
            loop {
                let _ = agent.bus.say(&presence(&agent.name)).await;
                tokio::time::sleep(BEAT).await;
            }
        });
    }
    tokio::time::sleep(BEAT + Duration::from_secs(1)).await;
    if share.tells() {
        let there = agents[0].bus.present().await?.len();
        println!("present {there} of {count}");
        anyhow::ensure!(there == count, "some are not there");
    }

    let seconds = revision(share, &agents).await?;
    if share.tells() {
        println!("revision {seconds:.2} s until the last has it");
        plain(&agents[0].plain).await?;
    }
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let rate = |seconds| (count * each) as f64 / seconds;
    for turn in 0..turns {
        let kept = agents
            .iter()
            .map(|agent| outcomes(agent, &identity, turn, each));
        let (octets, seconds) = share
            .together(futures_util::future::try_join_all(kept))
            .await?;
        ours.push(rate(seconds));
        let message = vec![b'x'; octets.iter().sum::<usize>() / (agents.len() * each)];
        let sent = agents
            .iter()
            .map(|agent| messages(agent, &message, turn, each));
        let (_, seconds) = share
            .together(futures_util::future::try_join_all(sent))
            .await?;
        theirs.push(rate(seconds));
        if share.tells() {
            println!(
                "turn {turn}: {:.0} outcomes/s, {:.0} plain messages/s of {} octets",
                ours[turn],
                theirs[turn],
                message.len()
            );
        }
    }
    if !share.tells() {
        return Ok(());
    }
    let kept = agents[0].bus.outcomes(None, Moment::default()).await?.len();
    let wanted = count * each * turns;
    println!("kept {kept} of {wanted} outcomes");
    anyhow::ensure!(kept == wanted, "some are lost");
    for rates in [&mut ours, &mut theirs] {
        rates.sort_by(f64::total_cmp);
    }
    let (ours, theirs) = (ours[turns / 2], theirs[turns / 2]);
    println!(
        "median {ours:.0} outcomes/s, {theirs:.0} plain messages/s, ratio {:.2}",
        ours / theirs
    );
    Ok(())
}

fn now() -> Moment {
    Moment::from_millis(clock::stamp().wall_ns / 1_000_000)
}

fn presence(name: &Name) -> Presence {
    Presence {
        name: name.clone(),
        site: None,
        tags: Vec::new(),
        isobath: env!("CARGO_PKG_VERSION").to_owned(),
        verbs: vec!["btc".to_owned(), "estimate".to_owned()],
        started: now(),
        said: now(),
        key: None,
        address: ([192, 0, 2, 1], 4890).into(),
        running: Vec::new(),
        waiting: 0,
    }
}

/// All watch; one revises; how long it takes until the last has heard, in seconds.
async fn revision(share: &Share, agents: &[Rc<Agent>]) -> anyhow::Result<f64> {
    let watches = futures::iter(agents).map(|agent| agent.bus.watch_fleets(1));
    let watches: Vec<_> = watches.buffer_unordered(AT_ONCE).try_collect().await?;
    let file = "name = 'crowd'\n[[host]]\nname = 'host-0'\n[[host]]\nname = 'host-1'\n".to_owned();
    let document = Document {
        since: now(),
        paused: false,
        file,
    };
    // They have looked for what is there already at times of their own.
    let count = agents.len();
    let heard = watches.into_iter().enumerate().map(|(number, mut watch)| {
        tokio::task::spawn_local(async move {
            tokio::time::sleep(BEAT.mul_f64(number as f64 / count as f64)).await;
            watch.next().await
        })
    });
    let heard: Vec<_> = heard.collect();
    tokio::time::sleep(BEAT + Duration::from_secs(1)).await;
    let all_hear = async {
        if share.tells() {
            let name: Name = "crowd".parse()?;
            let revised = agents[0].bus.revise(&name, &document, 0).await;
            revised.context("revise")?;
        }
        for heard in heard {
            heard.await?.context("hear")?;
        }
        Ok(())
    };
    Ok(share.together(all_hear).await?.1)
}

/// Hands over `each` outcomes, one after the other as agents do; their octets.
async fn outcomes(
    agent: &Agent,
    identity: &Identity,
    turn: usize,
    each: usize,
) -> anyhow::Result<usize> {
    let mut octets = 0;
    for number in 0..each {
        let at = now();
        let instant = Moment::from_millis((turn * each + number) as u64);
        let run: RunId =
            format!("crowd.rtt.{}.host-0.{}", agent.name, instant.compact()).parse()?;
        let times = Times {
            planned: at,
            began: Some(at),
            ended: at,
        };
        let mut outcome =
            Outcome::without_record(run, None, times, Became::Complete, String::new());
        let rtts: Vec<_> = (0..40)
            .map(|sample| 20.0 + f64::from(sample) / 7.0)
            .collect();
        outcome.summary = json!({ "value": 24.5, "unit": "ms", "rtts_ms": rtts });
        if number == 0 {
            octets = each * serde_json::to_vec(&outcome)?.len();
        }
        agent.bus.keep(&outcome, identity).await.context("keep")?;
    }
    Ok(octets)
}

/// The same number of plain messages into a plain stream, each acknowledged before the next.
async fn messages(agent: &Agent, message: &[u8], turn: usize, each: usize) -> anyhow::Result<()> {
    for number in 0..each {
        let subject = format!("{PLAIN}.{}.{turn}.{number}", agent.name);
        let plain = &agent.plain;
        plain
            .publish(subject, message.to_vec().into())
            .await?
            .await?;
    }
    Ok(())
}

async fn plain(jetstream: &jetstream::Context) -> anyhow::Result<()> {
    let config = stream::Config {
        name: PLAIN.to_owned(),
        subjects: vec![format!("{PLAIN}.>")],
        ..stream::Config::default()
    };
    jetstream.create_stream(config).await?;
    Ok(())
}
