//! Transfers at the near end: each has a thread of its own and, when it is one of ours, a socket of its own.

use super::capture::{Ends, NearTrace};
use super::link::{Link, Terms};
use super::log::{Log, MOST_PASSED, Sink};
use super::messages::{STREAM_KIND, TransferSetup};
use super::plan::{Plan, Tool};
use super::results::{Outcome, ReceiverResult, SenderResult};
use super::watch::Watch;
use super::{kernel, receiving, secret, sending};
use kit::hello;
use kit::stream::{any, prepare};
use schema::Direction;
use session::Dialer;
use session::wire::Probe;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use sys::clock;
use sys::udp::{RecvBatch, UdpSocket};
use transport::wire;
use units::{Ecn, Instant, TrafficClass};

/// How long a connection of the kernel's may take.
const CONNECT: Duration = Duration::from_secs(10);

/// What all transfers of a run share.
pub(crate) struct Shared<'a> {
    pub plan: &'a Plan,
    pub dialer: &'a Arc<Dialer>,
    pub peer: SocketAddr,
    /// Datagrams a second that the server gives, each way.
    pub limit: u32,
    pub origin: Instant,
    pub sink: &'a dyn Sink,
}

/// A transfer that has what it needs.
pub(crate) struct Near<'a> {
    pub id: u16,
    pub watch: Arc<Watch>,
    /// What passed its socket, when it is over and where that was asked for.
    pub trace: Option<NearTrace>,
    shared: &'a Shared<'a>,
    way: Way,
}

enum Way {
    /// The socket, once the far end has seen an address of this host by it.
    Ours(Option<UdpSocket>),
    Kernel(Option<TcpStream>),
}

/// What this end knows of a transfer.
pub(crate) enum Results {
    Receiver(ReceiverResult),
    Sender(SenderResult),
}

impl<'a> Near<'a> {
    /// Transfer `id` by `tool`.
    ///
    /// # Errors
    /// When there is no socket for it.
    pub(crate) fn new(id: u16, tool: Tool, shared: &'a Shared<'a>) -> Result<Self, sys::Error> {
        let way = match tool {
            Tool::Kernel => Way::Kernel(None),
            Tool::Ours => {
                let mut socket = UdpSocket::bind(any(shared.peer))?;
                socket.connect(shared.peer)?;
                Way::Ours(Some(socket))
            }
        };
        Ok(Self {
            id,
            watch: Arc::default(),
            trace: None,
            shared,
            way,
        })
    }

    /// What the far end is to do.
    pub(crate) fn setup(&self) -> TransferSetup {
        let plan = self.shared.plan;
        TransferSetup {
            id: self.id,
            tool: match self.way {
                Way::Kernel(_) => Tool::Kernel,
                Way::Ours(_) => Tool::Ours,
            },
            sends: plan.direction == Direction::Down,
            options: plan.receiver_options(),
            limit: plan.limit,
            class: plan.class,
            patience: plan.patience,
            trace: plan.traced(),
        }
    }

    /// Shows the far end by UDP where this transfer comes from.
    pub(crate) fn hello(&self) {
        let Way::Ours(Some(socket)) = &self.way else {
            return;
        };
        hello::ask(socket, self.shared.dialer, self.id, Probe::LEN);
    }

    /// Opens the connection of a transfer of the kernel's; throws away what has come for one of ours.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(crate) fn open(&mut self) -> anyhow::Result<()> {
        let Shared {
            plan, dialer, peer, ..
        } = self.shared;
        match &mut self.way {
            Way::Kernel(stream) => {
                let cc = (plan.direction == Direction::Up)
                    .then(|| plan.options.congestion_control.name());
                let setup = |socket: &socket2::Socket| prepare(socket, plan.class, cc);
                let open = dialer.open(*peer, self.id, STREAM_KIND, CONNECT, setup)?;
                *stream = Some(open.socket);
            }
            Way::Ours(socket) => {
                let mut batch = RecvBatch::new(16, 1);
                while let Some(socket) = socket
                    && socket.recv(&mut batch)? > 0
                {}
            }
        }
        Ok(())
    }

    /// Carries this end's part out, until it is over or `abort` says so.
    pub(crate) fn run(&mut self, abort: &(dyn Fn() -> bool + Sync)) -> Results {
        let up = self.shared.plan.direction == Direction::Up;
        let counters = self.carry_out(up, abort);
        self.watch.done.store(true, Ordering::Relaxed);
        counters
    }

    fn carry_out(&mut self, up: bool, abort: &(dyn Fn() -> bool + Sync)) -> Results {
        match std::mem::replace(&mut self.way, Way::Ours(None)) {
            Way::Ours(Some(socket)) => self.ours(socket, up, abort),
            Way::Kernel(Some(stream)) => self.kernel(&stream, up, abort),
            Way::Ours(None) | Way::Kernel(None) => self.failed(up, "it has no socket".to_owned()),
        }
    }

    fn ours(&mut self, socket: UdpSocket, up: bool, abort: &(dyn Fn() -> bool + Sync)) -> Results {
        let plan = self.shared.plan;
        let mut link = match Link::new(socket, self.terms(), self.log(up)) {
            Ok(link) => link.traced(plan.traced()),
            Err(error) => return self.failed(up, error.to_string()),
        };
        let counters = if up {
            let job = sending::Job {
                options: &plan.options,
                limit: plan.limit,
                mode: plan.mode,
                patience: plan.patience.0,
                secret: secret(),
                watch: &self.watch,
                abort,
            };
            Results::Sender(sending::run(self.id, &job, &mut link))
        } else {
            let (options, watch) = (&plan.options, &self.watch);
            Results::Receiver(receiving::run(self.id, options, &mut link, watch, abort))
        };
        let local = link.socket.local_addr().ok();
        self.trace = link.take_trace().zip(local).map(|(journal, local)| {
            let (sender, receiver) = if up {
                (local, self.shared.peer)
            } else {
                (self.shared.peer, local)
            };
            NearTrace {
                id: self.id,
                ends: Ends { sender, receiver },
                journal,
            }
        });
        counters
    }

    fn kernel(&self, stream: &TcpStream, up: bool, abort: &(dyn Fn() -> bool + Sync)) -> Results {
        let plan = self.shared.plan;
        if !up {
            return Results::Receiver(kernel::receive(self.id, &plan.options, stream, 0, abort));
        }
        let job = kernel::Job {
            limit: plan.limit,
            mss: plan.options.mss,
            window: plan.options.max_window,
            pace: plan.pace,
            patience: plan.patience.0,
            watch: &self.watch,
            abort,
        };
        let counters = kernel::send(self.id, &job, stream, &mut self.log(true));
        self.watch.done.store(true, Ordering::Relaxed);
        // The far end reads its figures of a connection that is still there.
        while !abort() {
            clock::sleep_until(clock::now() + Duration::from_millis(1));
        }
        Results::Sender(counters)
    }

    fn terms(&self) -> Terms {
        let plan = self.shared.plan;
        let keys = self.shared.dialer.keys();
        Terms {
            address: wire::Address {
                session: self.shared.dialer.session(),
                stream: self.id,
            },
            key_out: keys.to_server,
            key_in: keys.to_client,
            class: TrafficClass {
                dscp: plan.class,
                ecn: if plan.options.ecn {
                    Ecn::Ect0
                } else {
                    Ecn::NotEct
                },
            },
            limit: Some(self.shared.limit),
            longest: wire::segment_length(plan.options.mss),
        }
    }

    fn log(&self, up: bool) -> Log<'a> {
        let Shared { sink, origin, .. } = self.shared;
        Log::new(*sink, *origin, self.id, up, MOST_PASSED)
    }

    fn failed(&self, up: bool, reason: String) -> Results {
        if up {
            Results::Sender(SenderResult {
                id: self.id,
                outcome: Outcome::Failed,
                reason: Some(reason),
                ..SenderResult::default()
            })
        } else {
            Results::Receiver(ReceiverResult {
                id: self.id,
                ..ReceiverResult::default()
            })
        }
    }
}
