//! Delays of single connections, from the handshake on.

use isobath_lab::{Network, Options, flow, profiles};
use path::Assigned;
use socket2::{Domain, Socket, Type};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;
use sys::{Error, clock, tcp};
use units::Instant;

const FAR_PORT: u16 = 4_890;

/// The dumbbell, and the delays of its connections.
struct Dumbbell {
    network: Network,
    delays: Assigned,
}

impl Dumbbell {
    fn up() -> Self {
        let delays = Assigned::default();
        let options = Options {
            delays: Some(delays.clone()),
            ..Options::default()
        };
        let topology = profiles::find("dumbbell").unwrap();
        let network = Network::up_with(topology, 1, &options).unwrap();
        Self { network, delays }
    }

    fn address(&self, node: &str, v6: bool, port: u16) -> SocketAddr {
        SocketAddr::new(self.network.address(node, v6).unwrap(), port)
    }

    /// Something that listens on `right`.
    fn listener(&self, v6: bool) -> TcpListener {
        let far = self.address("right", v6, FAR_PORT);
        let bind = || TcpListener::bind(far).map_err(|e| Error::io("bind", "a listener", e));
        self.network.node("right").unwrap().run(bind).unwrap()
    }

    /// A connection from `left` whose round trip takes `round_trip`, half of it each way; when it was begun and when it
    /// was established.
    fn connect(&self, v6: bool, port: u16, round_trip: Duration) -> (TcpStream, [Instant; 2]) {
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

#[test]
fn a_connection_has_the_round_trip_that_it_is_given_from_its_handshake_on() {
    let lab = Dumbbell::up();
    for (v6, port, millis) in [(false, 4_000, 60), (true, 4_001, 35)] {
        let listener = lab.listener(v6);
        let round_trip = Duration::from_millis(millis);
        let (mut near, [begun, established]) = lab.connect(v6, port, round_trip);
        assert!(
            established.since(begun) >= round_trip,
            "{begun} {established}"
        );
        let (mut far, _) = listener.accept().unwrap();
        for _ in 0..3 {
            let before = clock::now();
            let mut octet = [7];
            near.write_all(&octet).unwrap();
            far.read_exact(&mut octet).unwrap();
            far.write_all(&octet).unwrap();
            near.read_exact(&mut octet).unwrap();
            assert!(clock::now().since(before) >= round_trip);
        }
        for end in [&near, &far] {
            let least = tcp::info(end).unwrap().min_rtt;
            assert!(least.is_some_and(|least| least >= round_trip), "{least:?}");
        }
    }
    assert_eq!((lab.delays.len(), lab.delays.missed()), (4, 0));
}

#[test]
fn a_near_connection_does_not_wait_for_a_far_one_that_began_before() {
    let lab = Dumbbell::up();
    let _listener = lab.listener(false);
    thread::scope(|scope| {
        let far = scope.spawn(|| lab.connect(false, 4_000, Duration::from_secs(3)).1);
        while lab.delays.is_empty() {
            clock::sleep_until(clock::now() + Duration::from_millis(10));
        }
        let near = lab.connect(false, 4_001, Duration::from_millis(30)).1;
        let far = far.join().unwrap();
        assert!(near[1] < far[1], "{near:?} {far:?}");
        assert!(far[1].since(far[0]) >= Duration::from_secs(3));
    });
    assert_eq!(lab.delays.missed(), 0);
}
