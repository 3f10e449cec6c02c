//! The dumbbell, and TCP connections across it.

use isobath_lab::{Network, Options, profiles};
use packet::flow;
use path::Assigned;
use socket2::{Domain, Socket, Type};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;
use sys::{Error, clock};
use units::Instant;

pub(crate) const FAR_PORT: u16 = 4_890;

/// The dumbbell, and the delays of its connections.
pub(crate) struct Dumbbell {
    pub(crate) network: Network,
    pub(crate) delays: Assigned,
}

impl Dumbbell {
    pub(crate) fn up() -> Self {
        Self::with(Options::default())
    }

    pub(crate) fn with(options: Options) -> Self {
        let delays = Assigned::default();
        let options = Options {
            delays: Some(delays.clone()),
            ..options
        };
        let topology = profiles::find("dumbbell").unwrap();
        let network = Network::up_with(topology, 1, &options).unwrap();
        Self { network, delays }
    }

    pub(crate) fn address(&self, node: &str, v6: bool, port: u16) -> SocketAddr {
        SocketAddr::new(self.network.address(node, v6).unwrap(), port)
    }

    /// Something that listens on `right`.
    pub(crate) fn listener(&self, v6: bool) -> TcpListener {
        let far = self.address("right", v6, FAR_PORT);
        let bind = || TcpListener::bind(far).map_err(|e| Error::io("bind", "a listener", e));
        self.network.node("right").unwrap().run(bind).unwrap()
    }

    /// A connection from `left` whose round trip takes `round_trip`, half of it each way; when it was begun and when it
    /// was established.
    pub(crate) fn connect(
        &self,
        v6: bool,
        port: u16,
        round_trip: Duration,
    ) -> (TcpStream, [Instant; 2]) {
        let (near, far) = (
            self.address("left", v6, port),
            self.address("right", v6, FAR_PORT),
        );
        let work = || {
            let socket = Socket::new(Domain::for_address(near), Type::STREAM, None)
                .map_err(|e| Error::io("open", "a socket", e))?;
            // The port is known before the first packet.
            socket
                .bind(&near.into())
                .map_err(|e| Error::io("bind", "a socket", e))?;
            self.delays.set(flow(near, far), round_trip / 2);
            self.delays.set(flow(far, near), round_trip / 2);
            let begun = clock::now();
            socket
                .connect(&far.into())
                .map_err(|e| Error::io("connect", "a socket", e))?;
            Ok::<_, Error>((socket.into(), [begun, clock::now()]))
        };
        self.network.node("left").unwrap().run(work).unwrap()
    }
}
