//! A client of the estimation service: one request over its Unix socket.
//!
//! It asks by HTTP 1.0, so the answer ends with the connection and comes in no chunks.

use kit::control::plain;
use manager::service::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use sys::local::UnixStream;

/// Where the service is if nobody says otherwise.
pub(super) const SERVICE: &str = "/run/isobath/estimates.sock";
/// Octets of a line and of an answer: more than the service sends.
const LONGEST: u64 = 16 << 20;

/// Where the service is.
#[derive(Debug, clap::Args)]
pub(super) struct Where {
    /// Socket of the estimation service.
    #[arg(long, value_name = "SOCKET", default_value = SERVICE)]
    service: PathBuf,
}

/// An answer: its status, and what can be read of it.
pub(super) struct Response {
    status: u16,
    body: BufReader<UnixStream>,
}

impl Where {
    /// Asks for what is at `target`.
    ///
    /// # Errors
    /// When nobody serves there.
    pub(super) fn fetch(&self, target: &str) -> anyhow::Result<Response> {
        fetch(&self.service, target).map_err(|error| {
            anyhow::anyhow!(
                "cannot ask the service at {}: {error} - is 'isobath manager up' running, and may you access its socket? (--service SOCKET)",
                self.service.display()
            )
        })
    }
}

fn fetch(socket: &Path, target: &str) -> std::io::Result<Response> {
    let mut stream = UnixStream::connect(socket)?;
    write!(stream, "GET {target} HTTP/1.0\r\nHost: isobath\r\n\r\n")?;
    let mut body = BufReader::new(stream);
    let first = line(&mut body)?;
    let status = first.split(' ').nth(1).and_then(|word| word.parse().ok());
    let status = status.ok_or_else(|| std::io::Error::other("the answer is not HTTP"))?;
    while !line(&mut body)?.is_empty() {}
    Ok(Response { status, body })
}

fn line(from: &mut BufReader<UnixStream>) -> std::io::Result<String> {
    let mut line = String::new();
    from.take(LONGEST).read_line(&mut line)?;
    line.truncate(line.trim_end().len());
    Ok(line)
}

impl Response {
    /// The whole answer.
    ///
    /// # Errors
    /// What the service says where it has none.
    pub(super) fn whole(mut self) -> anyhow::Result<String> {
        let mut text = String::new();
        (&mut self.body).take(LONGEST).read_to_string(&mut text)?;
        if self.status == 200 {
            return Ok(text.trim_end().to_owned());
        }
        Err(anyhow::anyhow!(said(&text)))
    }

    /// Tells `each` of every event as it comes, its kind and its data, until there are no more.
    ///
    /// # Errors
    /// As above, and those of `each`.
    pub(super) fn events(
        mut self,
        mut each: impl FnMut(&str, &str) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        if self.status != 200 {
            return self.whole().map(|_| ());
        }
        let mut kind = String::new();
        loop {
            let mut text = String::new();
            if (&mut self.body).take(LONGEST).read_line(&mut text)? == 0 {
                return Err(anyhow::anyhow!("the manager has ended"));
            }
            if let Some(word) = text.strip_prefix("event: ") {
                word.trim_end().clone_into(&mut kind);
            } else if let Some(data) = text.strip_prefix("data: ") {
                each(&kind, data.trim_end())?;
            }
        }
    }
}

/// The service's line, for people.
pub(super) fn said(text: &str) -> String {
    let error: Result<Error, _> = serde_json::from_str(text);
    let line = error.map_or_else(|_| text.to_owned(), |error| error.error);
    plain(&line)
}
