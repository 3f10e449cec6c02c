//! The control connection of a TWAMP session: it is asked for before the first request, and lasts until it is closed.

use crate::stream::is_timeout;
use far_ends::twamp::{Asked, Client};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use sys::clock;

/// For the connection, and for all that is agreed on over it.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often it is looked whether the session is still wanted.
const LOOK: Duration = Duration::from_millis(50);
const PIECE: usize = 1_024;

/// See the module.
pub(super) struct Control(TcpStream);

impl Control {
    /// Asks the server at `to` for a session, as long as that `is_wanted`; and the port that test packets go to.
    ///
    /// # Errors
    /// One line: why there is no session.
    pub(super) fn open(
        to: SocketAddr,
        asked: Asked,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<(Self, u16), String> {
        let io = |error: io::Error| match error.kind() {
            io::ErrorKind::ConnectionRefused => format!("nobody answers at TCP {to}"),
            io::ErrorKind::TimedOut => format!("TCP {to} does not answer"),
            _ => format!("TCP {to}: {error}"),
        };
        let socket = TcpStream::connect_timeout(&to, PATIENCE).map_err(io)?;
        socket.set_nodelay(true).map_err(io)?;
        socket.set_read_timeout(Some(LOOK)).map_err(io)?;
        socket.set_write_timeout(Some(PATIENCE)).map_err(io)?;
        let mut client = Client::new(asked);
        let (mut out, mut piece) = (Vec::new(), [0; PIECE]);
        let until = clock::now() + PATIENCE;
        while is_wanted() && clock::now() < until {
            let count = match (&socket).read(&mut piece) {
                Ok(0) => return Err(format!("TCP {to} has closed the connection")),
                Ok(count) => count,
                Err(error) if is_timeout(&error) => continue,
                Err(error) => return Err(io(error)),
            };
            out.clear();
            let port = client.handle(&piece[..count], &mut out)?;
            (&socket).write_all(&out).map_err(io)?;
            if let Some(port) = port {
                return Ok((Self(socket), port));
            }
        }
        if !is_wanted() {
            return Err("interrupted".to_owned());
        }
        Err(format!(
            "TCP {to} agrees to nothing - is it a TWAMP server?"
        ))
    }

    /// Says that the session is over.
    pub(super) fn close(&self) {
        // Whoever is not told finds out when the connection is closed.
        let _ = (&self.0).write_all(&Client::stop());
    }
}
