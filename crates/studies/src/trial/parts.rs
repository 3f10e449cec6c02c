//! What runs beside the counters: the application's two ends, others' connections, and the tool, each in a thread.

use super::plan::Probes;
use super::prober::{Note, Prober};
use super::run::{Context, PORT, Times};
use super::source::{self, Seconds};
use super::web;
use crate::dumbbell::managers::FAR;
use crate::dumbbell::{Managers, Place};
use anyhow::{Context as _, anyhow};
use kit::tool;
use kit::tool::{Target, Tool};
use lab::Network;
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::SyncSender;
use std::thread::Scope;
use sys::clock;

/// What runs beside the counters.
#[derive(Clone, Copy)]
pub(super) struct Parts<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) network: &'a Network,
    pub(super) place: &'a Place,
    pub(super) times: Times,
    pub(super) over: &'a AtomicBool,
}

impl<'a> Parts<'a> {
    /// Starts all of it.
    ///
    /// # Errors
    /// When a host or a port is missing, or the manager.
    pub(super) fn start<'scope>(
        self,
        scope: &'scope Scope<'scope, '_>,
        managers: &Managers,
        seconds: &'scope Seconds,
        notes: SyncSender<Note>,
    ) -> anyhow::Result<()>
    where
        'a: 'scope,
    {
        self.application(scope, seconds, notes.clone())?;
        if let Some(ends) = &self.place.others {
            let times = [self.times.origin, self.times.end];
            let (network, seed) = (self.network, self.context.plan.seed);
            web::start(scope, network, ends, times, seed, self.over)?;
        }
        self.tool(scope, managers, notes)
    }

    /// The application's two ends.
    fn application<'scope>(
        self,
        scope: &'scope Scope<'scope, '_>,
        seconds: &'scope Seconds,
        notes: SyncSender<Note>,
    ) -> anyhow::Result<()>
    where
        'a: 'scope,
    {
        let Self {
            place, times, over, ..
        } = self;
        let plan = self.context.plan;
        let beside = self.network.address(&place.sink, false);
        let beside = beside.context("no IPv4 in this lab")?;
        let address = SocketAddr::new(if plan.riding { FAR } else { beside }, PORT);
        let [from, to] = [
            self.network.node(&place.source)?,
            self.network.node(&place.sink)?,
        ];
        let listener = to.run(|| source::listen(PORT))?;
        scope.spawn(move || source::receive(&listener, times.origin, seconds, over));
        scope.spawn(move || {
            // Without it pieces leave up to 50 us late.
            let _ = clock::timer_slack(1);
            let times = [times.origin, times.end];
            let sent = from
                .enter()
                .map_err(|error| error.to_string())
                .and_then(|()| {
                    source::send(address, plan.source, times, over)
                        .map_err(|error| error.to_string())
                });
            if let Err(reason) = sent {
                // Whoever keeps the counters goes last.
                let _ = notes.send(Note::Broken(format!(
                    "the application's connection: {reason}"
                )));
            }
        });
        Ok(())
    }

    fn tool<'scope>(
        self,
        scope: &'scope Scope<'scope, '_>,
        managers: &Managers,
        notes: SyncSender<Note>,
    ) -> anyhow::Result<()>
    where
        'a: 'scope,
    {
        let plan = self.context.plan;
        if plan.probes == Probes::None {
            return Ok(());
        }
        // Who sends trains whatever comes of them need not be told of arrivals.
        let target = if plan.probes.pause().is_some() {
            Target::of_tool(FAR)
        } else {
            Target::unheard(FAR)
        };
        let socket = tool::connect(&managers.socket())?;
        let tool = Tool::new(socket, target, self.over).map_err(|reason| anyhow!(reason))?;
        let mut prober = Prober {
            tool,
            notes: move |note| {
                // Whoever keeps the counters goes last.
                let _ = notes.send(note);
            },
            origin: self.times.origin,
            end: self.times.end,
        };
        scope.spawn(move || prober.run(plan));
        Ok(())
    }
}
