//! The far end: `isobath serve`.

use crate::far::{Equipment, StopOnDrop};
use crate::log::Log;
use crate::mailbox::Mailboxes;
use crate::register::Register;
use crate::responder::Responder;
use serde_json::Value;
use session::{Control, Event, Server, ServerConfig, Service, Session, Slot};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A client that has been welcomed must say within this time what it wants.
const SETUP: Duration = Duration::from_secs(30);

/// A server that listens and is ready to run.
pub struct Serving {
    server: Server,
    responder: Responder,
    equipment: Equipment,
    register: &'static Register,
    log: Arc<Log>,
}

impl Serving {
    /// Listens as `config` says, by TCP and UDP on the same port, for the far ends of `register`; `log` is told what happens.
    ///
    /// # Errors
    ///
    /// When the port is taken or may not be used.
    pub fn bind(
        config: ServerConfig,
        register: &'static Register,
        log: Arc<Log>,
    ) -> anyhow::Result<Self> {
        let identity = config.identity.clone();
        let server = Server::bind(config)?;
        let mailboxes = Mailboxes::default();
        let sessions = server.sessions();
        let (responder, quic) =
            Responder::bind_with_quic(server.local_addr(), sessions, mailboxes.clone())?;
        let site = web::Site::start(identity.certificate(), identity.private_key(), quic)?;
        let equipment = Equipment {
            mailboxes,
            socket: responder.socket(),
            site,
        };
        Ok(Self {
            server,
            responder,
            equipment,
            register,
            log,
        })
    }

    /// The address and port.
    pub fn local_addr(&self) -> SocketAddr {
        self.server.local_addr()
    }

    /// Serves until `stop` is raised.
    ///
    /// # Errors
    ///
    /// When the UDP socket fails.
    pub fn run(self, stop: &AtomicBool) -> anyhow::Result<()> {
        let Self {
            server,
            responder,
            equipment,
            register,
            log,
        } = self;
        std::thread::scope(|scope| {
            let answering = scope.spawn(|| {
                // Without it every client would measure nothing; raised however this thread ends.
                let _stop = StopOnDrop(stop);
                responder.run(stop)
            });
            server.run(
                &Arc::new(Measurements {
                    equipment,
                    register,
                    log,
                }),
                stop,
            );
            match answering.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })?;
        Ok(())
    }
}

/// What this server does for its clients.
struct Measurements {
    equipment: Equipment,
    register: &'static Register,
    log: Arc<Log>,
}

impl Service for Measurements {
    fn serve(&self, mut control: Control, session: Arc<Session>) {
        // Whatever goes wrong with one client is that client's to report.
        let line = match control.recv::<Value>(SETUP) {
            Ok(line) => line,
            Err(error) => return self.log.ends(&session, "nothing", Err(error)),
        };
        let Some((far_end, setup)) = self.register.far_end(line) else {
            let reason = Err("it requested a measurement that this version does not support");
            return self.log.ends(&session, "nothing", reason);
        };
        let what = far_end.name();
        self.log.begins(&session, what);
        let served = far_end.serve_json(&mut control, &session, setup, &self.equipment);
        self.log.ends(&session, what, served);
    }

    fn note(&self, event: &Event<'_>) {
        self.log.note(event);
    }

    fn web(&self, socket: TcpStream, session: Arc<Session>, slot: Slot) {
        self.equipment.site.take(socket, session.id, slot);
    }

    fn host_facts(&self) -> Value {
        serde_json::to_value(crate::host::facts("server")).unwrap_or_default()
    }
}
