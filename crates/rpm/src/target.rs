//! Where a responsiveness server is, and what it has.

use far_ends::nq::{Configuration, LONGEST, Origin, WELL_KNOWN};
use session::Family;
use std::net::SocketAddr;
use std::time::Duration;
use units::HttpVersion;
use web::Trust;
use web::responsiveness::client::Dialer;

/// How long the configuration may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// A server, as its configuration has it.
#[derive(Clone, Debug)]
pub struct Target {
    /// Opens connections with it.
    pub dialer: Dialer,
    /// Where it is.
    pub address: SocketAddr,
    /// The path of the object of one octet.
    pub small: String,
    /// Of the one without end.
    pub large: String,
    /// Of the one that takes everything.
    pub upload: String,
}

impl Target {
    /// Asks the server of `url` for its configuration by this version of HTTP: at that URL, or where one without a path has it.
    ///
    /// # Errors
    /// One line.
    pub async fn find(
        url: &str,
        trust: &Trust,
        family: Option<Family>,
        http: HttpVersion,
    ) -> anyhow::Result<Self> {
        let (origin, path) = Origin::of(url).map_err(|what| anyhow::anyhow!(what))?;
        let path = if path == "/" { WELL_KNOWN } else { &path };
        let addresses = session::resolve(&origin.host, origin.port, family)?;
        let address = addresses[0];
        let other = session::other_version(&addresses);
        let failed = |reason: String| {
            anyhow::anyhow!(
                "{url}: {}",
                session::or_other(&reason, other).unwrap_or(reason)
            )
        };
        let dialer = Dialer::new(address, origin.clone(), trust, http).map_err(failed)?;
        let asked = async { dialer.open().await?.link.fetch(path, LONGEST).await };
        let asked = tokio::time::timeout(PATIENCE, asked).await;
        let silent = |_| format!("it did not answer within {} s", PATIENCE.as_secs());
        let text = asked
            .map_err(silent)
            .and_then(|text| text)
            .map_err(failed)?;
        let configuration = Configuration::read(&text)
            .map_err(|reason| anyhow::anyhow!("{url}: its configuration is unusable: {reason}"))?;
        if !configuration.origin.is_tls {
            anyhow::bail!("{url}: its URLs are not https:// - only these are measured");
        }
        let Configuration {
            origin,
            small,
            large,
            upload,
            endpoint,
        } = configuration;
        let host = endpoint.unwrap_or_else(|| origin.host.clone());
        let address = resolve(&origin, &host, family)?;
        Ok(Self {
            dialer: dialer.towards(address, origin),
            address,
            small,
            large,
            upload,
        })
    }
}

/// The address of `host`, with the port of `origin` unless it has its own.
fn resolve(origin: &Origin, host: &str, family: Option<Family>) -> anyhow::Result<SocketAddr> {
    Ok(session::resolve(host, origin.port, family)?[0])
}
