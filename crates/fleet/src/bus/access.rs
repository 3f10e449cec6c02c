//! How the server is found, and how it lets us in.

use super::{PATIENCE, rights};
use crate::{Identity, Name};
use anyhow::anyhow;
use async_nats::{Client, ConnectOptions, Event, ServerError};
use kit::usage::Usage;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// From one attempt to connect to the next, at most.
const RECONNECT: Duration = Duration::from_millis(500);

/// Where NATS is, and how it lets us in.
#[derive(Clone, Debug, clap::Args)]
pub struct Access {
    /// The server's URL.
    #[arg(
        long,
        help = "NATS server: nats://HOST or tls://HOST, with USER:PASSWORD@ or TOKEN@ before HOST if required",
        value_name = "URL",
        env = "ISOBATH_NATS",
        hide_env_values = true,
        default_value = "nats://127.0.0.1"
    )]
    pub nats: String,
    /// File with the CA certificates to verify the NATS server with [default: the system's].
    #[arg(long, value_name = "FILE")]
    pub nats_ca: Option<PathBuf>,
    /// File with the `NKey` seed by which the NATS server knows us.
    #[arg(
        long,
        help = "File with the NKey seed to authenticate with; 'isobath fleet key FILE' makes one",
        value_name = "FILE"
    )]
    pub nkey: Option<PathBuf>,
}

impl Access {
    /// To the server at `url`, with what the system vouches for.
    pub fn at(url: &str) -> Self {
        Self {
            nats: url.to_owned(),
            nats_ca: None,
            nkey: None,
        }
    }
}

/// A connection that mends itself.
pub struct Connection {
    pub(super) client: Client,
    refused: Arc<Mutex<Option<String>>>,
}

impl Connection {
    /// The client under it, for messages that are not the fleet's.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// What the server has refused us since this was last asked, in its words: whoever waits for an answer then learns nothing but that
    /// there is none.
    pub fn refused(&self) -> Option<String> {
        self.refused.lock().ok()?.take()
    }
}

/// Connects; an `agent` gets answers where nobody else may hear them, and goes on trying in the background if the server is not there yet.
///
/// # Errors
/// When the address is none, or nobody is there and it has to be now.
pub async fn connect(
    access: &Access,
    name: &str,
    agent: Option<&Name>,
) -> anyhow::Result<Connection> {
    let refused = Arc::new(Mutex::new(None));
    let heard = Arc::clone(&refused);
    let delay = |attempts: usize| {
        let attempts = u32::try_from(attempts).unwrap_or(u32::MAX);
        RECONNECT.min(Duration::from_millis(50).saturating_mul(attempts))
    };
    let mut options = ConnectOptions::new()
        .name(name)
        .request_timeout(Some(PATIENCE))
        .event_callback(move |event| {
            if let Event::ServerError(ServerError::Other(error)) = event
                && let Ok(mut heard) = heard.lock()
            {
                *heard = Some(error);
            }
            std::future::ready(())
        })
        .reconnect_delay_callback(delay);
    if let Some(agent) = agent {
        let inbox = rights::inbox(agent);
        options = options
            .retry_on_initial_connect()
            .custom_inbox_prefix(inbox);
    }
    if let Some(file) = &access.nats_ca {
        options = options.add_root_certificates(file.clone());
    }
    let (url, who) = apart(&access.nats);
    options = match who {
        Some((token, None)) => options.token(token.to_owned()),
        Some((user, Some(password))) => {
            options.user_and_password(user.to_owned(), password.to_owned())
        }
        None => match &access.nkey {
            Some(file) => options.nkey(Identity::read(file).map_err(Usage::of)?.seed().to_owned()),
            None => options,
        },
    };
    let client = options.connect(url).await.map_err(|error| {
        let (place, error) = (place(&access.nats), error.to_string());
        let advice = if error.contains("authorization") {
            "use its credentials: a user and password (--nats SCHEME://USER:PASSWORD@HOST), or a key (--nkey FILE)"
        } else if error.contains("certificate") {
            "give the certificate of its CA (--nats-ca FILE)"
        } else {
            "is it running, and is the URL right? (--nats URL)"
        };
        anyhow!("NATS at {place} cannot be reached: {error} - {advice}")
    })?;
    Ok(Connection { client, refused })
}

/// An address without what lets somebody in.
pub(crate) fn place(url: &str) -> String {
    apart(url).0
}

/// A user and his password, or a token alone; as they are written, without any escapes.
type Who<'a> = (&'a str, Option<&'a str>);

/// The server's URL, and apart from it what lets us in.
fn apart(url: &str) -> (String, Option<Who<'_>>) {
    let (scheme, rest) = url.split_once("://").unwrap_or(("nats", url));
    let (who, host) = match rest.rsplit_once('@') {
        Some((who, host)) => (Some(who), host),
        None => (None, rest),
    };
    let who = who.map(|who| match who.split_once(':') {
        Some((user, password)) => (user, Some(password)),
        None => (who, None),
    });
    (format!("{scheme}://{host}"), who)
}

#[cfg(test)]
mod tests {
    use super::apart;

    #[test]
    fn what_lets_us_in_is_kept_apart_from_the_address() {
        for (url, address, who) in [
            ("nats://hub", "nats://hub", None),
            ("hub:4223", "nats://hub:4223", None),
            (
                "tls://a:b:@c@hub:1",
                "tls://hub:1",
                Some(("a", Some("b:@c"))),
            ),
            (
                "nats://t0ken@[::1]:1",
                "nats://[::1]:1",
                Some(("t0ken", None)),
            ),
        ] {
            assert_eq!(apart(url), (address.to_owned(), who));
        }
    }
}
