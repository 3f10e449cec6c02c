//! Real headless Chromium as a loader of pages, timed by the browser itself.
//!
//! The native loader does what a browser does on the network and nothing else. A browser also parses,
//! executes and paints, and asks for some objects earlier or later than a model would have it. This
//! module lets real Chromium load the same page over the same path, so that the one can be checked
//! against the other. All figures are the browser's own: Navigation Timing and Resource Timing (W3C) by
//! way of the `DevTools` protocol. They are on the monotonic clock of this host, as all others are.
//!
//! - `chromium.rs` finds it and knows its switches; `process.rs` starts and ends it.
//! - `devtools.rs` speaks with it; `page.rs` makes a visit; `events.rs` and `waterfall.rs` turn what it
//!   tells into figures.
//! - `proxy.rs`, `socks.rs` and `lookup.rs` lead it to the page server; `certificate.rs` makes it
//!   trust that server.
//!
//! # What is as in everyday browsing, and what is not
//!
//! Each load has a context of its own (as a new private window): nothing is cached, every connection
//! and every TLS session is new. At most six connections are made to a host with HTTP/1.1, and no
//! fewer than 256 in all (version 156 had 300 requests open at once, at 50 hosts). QUIC is off.
//! Chromium runs without its sandbox, because for root and inside a lab's user namespace the kernel
//! refuses it: **load only pages that are trusted**.

mod certificate;
mod chromium;
mod devtools;
mod error;
mod events;
mod lookup;
mod outcome;
mod page;
mod process;
mod proxy;
pub mod socks;
mod waterfall;

pub use chromium::Chromium;
pub use error::Error;

use crate::PageLoad;
use devtools::DevTools;
use outcome::Outcome;
use page::{End, Page, Patience};
use process::Process;
use proxy::{Proxy, Sightings};
use serde_json::json;
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use sys::clock;
use units::HttpVersion;
use units::TrafficClass;

/// How long objects may take that a script asked for and that the load event does not wait for: on our
/// own pages, whose objects all come.
const GRACE_OURS: Duration = Duration::from_secs(10);
/// The same on other pages, some of whose requests never end.
const GRACE: Duration = Duration::from_secs(1);
/// The longest address that is asked for.
const MAX_URL: usize = 4096;

/// How to start a browser.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The page server, for pages of ours. `None` for a site of the net: names, routes and certificates
    /// are then those of this host, without a proxy.
    pub site: Option<Proxied>,
    /// What pages shall be loaded by. `None` leaves it to browser and server, which is HTTP/2 where a
    /// server has it; so is `H2`, because a browser cannot be kept from HTTP/1.1.
    pub protocol: Option<HttpVersion>,
}

/// A page server: one address that serves all hosts of its pages.
#[derive(Clone, Debug)]
pub struct Proxied {
    /// Where the hosts' names are looked up, over UDP.
    pub resolver: SocketAddr,
    /// Where all the hosts are.
    pub peer: SocketAddr,
    /// The server's X.509 certificate, DER.
    pub certificate: Vec<u8>,
    /// Marks what is sent on the way there: look-ups, SYNs, requests.
    pub class: Option<TrafficClass>,
}

/// A running Chromium. It ends with this value, and with this process however that ends.
#[derive(Debug)]
pub struct Browser {
    // The order is that of being dropped: once its pipe is closed, the process ends.
    devtools: DevTools,
    process: Process,
    proxy: Option<Proxy>,
    version: String,
}

impl Browser {
    /// Starts one in the network namespace of the calling thread, whose loopback interface must be up.
    ///
    /// # Errors
    ///
    /// When it cannot be run, ends at once (with its last complaint), or does not answer.
    pub fn start(chromium: &Chromium, options: Options) -> Result<Self, Error> {
        let mut switches = Vec::new();
        if let Some(site) = &options.site {
            let hash = certificate::key_hash(&site.certificate)?;
            switches.push(format!("--ignore-certificate-errors-spki-list={hash}"));
        }
        if options.protocol == Some(HttpVersion::Http1) {
            switches.push("--disable-http2".to_owned());
        }
        let proxy = options.site.map(Proxy::start).transpose()?;
        let (mut process, pipe) = Process::start(chromium, &switches)?;
        let mut devtools = DevTools::new(pipe)?;
        let version = devtools.call(None, "Browser.getVersion", &json!({}));
        let version = version.map_err(|mut error| {
            explain(&mut error, &mut process);
            error
        })?;
        Ok(Self {
            devtools,
            process,
            proxy,
            version: version["product"].as_str().unwrap_or_default().to_owned(),
        })
    }

    /// Its name and version, for the record: `Chrome/156.0.8078.79`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The id of its main process.
    pub fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// Loads `url` on new connections, with nothing cached.
    ///
    /// What goes wrong stands in [`PageLoad::error`], together with what was loaded until then: a load
    /// that takes longer than `timeout` too, and one that `abort` ends, which it does within 0.1 s. A
    /// browser that has died says so in every further load.
    pub fn load(&mut self, url: &str, timeout: Duration, abort: &AtomicBool) -> PageLoad {
        let began = clock::now();
        self.seen();
        let patience = Patience {
            deadline: began + timeout,
            grace: if self.proxy.is_some() {
                GRACE_OURS
            } else {
                GRACE
            },
            abort,
        };
        let mut outcome = Outcome::new(url, began, timeout);
        match check(url) {
            Ok(()) => self.visit(url, patience, &mut outcome),
            Err(reason) => outcome.end = Ok(End::Failed(reason)),
        }
        if let Err(error) = &mut outcome.end {
            explain(error, &mut self.process);
        }
        outcome.page_load(self.seen(), self.proxy.is_some())
    }

    fn visit(&mut self, url: &str, patience: Patience<'_>, outcome: &mut Outcome) {
        let devtools = &mut self.devtools;
        let proxy = self.proxy.as_ref().map(Proxy::port);
        let page = match Page::open(devtools, proxy) {
            Ok(page) => page,
            Err(error) => return outcome.end = Err(error),
        };
        outcome.end = page.visit(devtools, url, patience, &mut outcome.waterfall);
        if let Ok(End::Loaded) = outcome.end {
            outcome.navigation = page.navigation(devtools);
        }
        // If that fails the browser is dying, which the next load will tell.
        let _ = page.close(devtools);
    }

    /// What the proxy has seen since the last time.
    fn seen(&self) -> Sightings {
        self.proxy.as_ref().map(Proxy::reset).unwrap_or_default()
    }
}

/// Only what comes over a network is a page: no files of this host, no data in the address itself.
fn check(url: &str) -> Result<(), String> {
    let is_web = ["http://", "https://"]
        .iter()
        .any(|scheme| url.starts_with(scheme));
    if !is_web {
        return Err("only http:// and https:// can be measured".to_owned());
    }
    if url.len() > MAX_URL {
        return Err(format!("the address has more than {MAX_URL} octets"));
    }
    Ok(())
}

/// Adds to the news of a browser's end how it ended.
fn explain(error: &mut Error, process: &mut Process) {
    if let Error::Ended(how) = error {
        *how = process.last_words();
    }
}
