//! One visit to a page: a new context, a tab in it, the way there, and what is told meanwhile.

use super::Error;
use super::devtools::{DevTools, Heard, Message};
use super::events;
use super::waterfall::Waterfall;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use sys::clock;
use units::Instant;

/// Between two looks at whether to stop.
const LOOK: Duration = Duration::from_millis(100);
/// Asks the page for its Navigation Timing (W3C, section 4) once the load event is over, which it is
/// an instant after it was told of.
const NAVIGATION: &str = "new Promise(done => { const look = () => { \
    const [entry] = performance.getEntriesByType('navigation'); \
    entry && entry.loadEventEnd > 0 ? done(entry.loadEventEnd) : setTimeout(look, 1); }; look(); })";

/// A tab with a context of its own: connections, caches, sessions of TLS and cookies are shared with
/// nobody and end with it. (So the cache need not be switched off, which would make the page another
/// one: requests would ask for fresh copies, and an object used twice would be fetched twice.)
#[derive(Debug)]
pub(super) struct Page {
    context: String,
    session: String,
}

/// How long a visit may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience<'a> {
    /// When it is given up.
    pub(super) deadline: Instant,
    /// How long after the load event objects that were asked for before may still arrive.
    pub(super) grace: Duration,
    /// Whether to stop at once.
    pub(super) abort: &'a AtomicBool,
}

/// How a visit ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum End {
    /// With the load event.
    Loaded,
    /// There was no page; in Chromium's words.
    Failed(String),
    /// Later than allowed.
    Late,
    /// By the user.
    Stopped,
    /// The page's process died.
    Crashed,
}

/// What the page itself says of its load.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Navigation {
    /// When it began.
    pub(super) started: Option<Instant>,
    /// From then to the end of the load event.
    pub(super) load_time: Option<Duration>,
}

/// A visit under way.
struct Visit<'a> {
    waterfall: &'a mut Waterfall,
    navigate: u64,
    loaded: Option<Instant>,
    end: Option<End>,
}

impl Page {
    /// Opens an empty one whose connections go through the SOCKS proxy at `proxy` on loopback, if any.
    pub(super) fn open(devtools: &mut DevTools, proxy: Option<u16>) -> Result<Self, Error> {
        let context = json!({
            "proxyServer": proxy_server(proxy),
            // By itself Chromium would go past the proxy to names of this host.
            "proxyBypassList": "<-loopback>",
        });
        let context = devtools.call(None, "Target.createBrowserContext", &context)?;
        let context = text(&context, "browserContextId");
        let target = json!({ "url": "about:blank", "browserContextId": context });
        let target = devtools.call(None, "Target.createTarget", &target)?;
        let attach = json!({ "targetId": text(&target, "targetId"), "flatten": true });
        let session = devtools.call(None, "Target.attachToTarget", &attach)?;
        let session = text(&session, "sessionId");
        for domain in ["Page", "Network", "Inspector", "Performance"] {
            devtools.call(Some(&session), &format!("{domain}.enable"), &json!({}))?;
        }
        Ok(Self { context, session })
    }

    /// Goes to `url` and stays until the page is there or patience ends.
    pub(super) fn visit(
        &self,
        devtools: &mut DevTools,
        url: &str,
        patience: Patience<'_>,
        waterfall: &mut Waterfall,
    ) -> Result<End, Error> {
        let navigate =
            devtools.send(Some(&self.session), "Page.navigate", &json!({ "url": url }))?;
        let mut visit = Visit {
            waterfall,
            navigate,
            loaded: None,
            end: None,
        };
        loop {
            let now = clock::now();
            if let Some(end) = visit.end(now, patience) {
                return Ok(end);
            }
            match devtools.next((now + LOOK).min(patience.deadline)) {
                Heard::Message(message) => self.hear(devtools, &mut visit, message)?,
                Heard::Nothing => {}
                Heard::Closed => return Err(Error::Ended("during a load".to_owned())),
            }
        }
    }

    fn hear(
        &self,
        devtools: &mut DevTools,
        visit: &mut Visit<'_>,
        message: Message,
    ) -> Result<(), Error> {
        if message.session_id.as_ref() != Some(&self.session) {
            return Ok(());
        }
        if message.method == "Page.javascriptDialogOpening" {
            // A page that asks the user something waits for ever otherwise.
            let dialog = "Page.handleJavaScriptDialog";
            devtools.send(Some(&self.session), dialog, &json!({ "accept": true }))?;
        }
        visit.take(message);
        Ok(())
    }

    /// Asks a page that has been loaded how that went.
    pub(super) fn navigation(&self, devtools: &mut DevTools) -> Navigation {
        let session = Some(self.session.as_str());
        let ask = json!({ "expression": NAVIGATION, "awaitPromise": true, "returnByValue": true });
        let answer = devtools.call(session, "Runtime.evaluate", &ask).ok();
        let ms = answer.and_then(|answer| answer["result"]["value"].as_f64());
        let metrics = devtools.call(session, "Performance.getMetrics", &json!({}));
        Navigation {
            started: metrics.ok().as_ref().and_then(navigation_start),
            load_time: ms.and_then(|ms| Duration::try_from_secs_f64(ms / 1e3).ok()),
        }
    }

    /// Closes it with all its connections.
    pub(super) fn close(self, devtools: &mut DevTools) -> Result<(), Error> {
        let context = json!({ "browserContextId": self.context });
        devtools.call(None, "Target.disposeBrowserContext", &context)?;
        devtools.forget();
        Ok(())
    }
}

impl Visit<'_> {
    fn take(&mut self, message: Message) {
        match message.method.as_str() {
            "" if message.id == Some(self.navigate) => {
                self.end = refusal(&message).map(End::Failed);
            }
            "Inspector.targetCrashed" => self.end = Some(End::Crashed),
            "Page.loadEventFired" => self.fired(&message.params),
            method => self.waterfall.take(method, message.params),
        }
    }

    /// The load event of the empty page that was there before does not count.
    fn fired(&mut self, params: &Value) {
        let at = params["timestamp"].as_f64().and_then(events::instant);
        let began = self.waterfall.began();
        self.loaded = at
            .filter(|at| began.is_some_and(|began| began <= *at))
            .or(self.loaded);
    }

    fn end(&mut self, now: Instant, patience: Patience<'_>) -> Option<End> {
        if self.end.is_some() {
            return self.end.take();
        }
        let is_settled = |loaded| self.waterfall.in_flight() == 0 || now >= loaded + patience.grace;
        if self.loaded.is_some_and(is_settled) {
            return Some(End::Loaded);
        }
        if patience.abort.load(Ordering::Relaxed) {
            return Some(End::Stopped);
        }
        let end = if self.loaded.is_some() {
            End::Loaded
        } else {
            End::Late
        };
        (now >= patience.deadline).then_some(end)
    }
}

fn proxy_server(port: Option<u16>) -> String {
    match port {
        Some(port) => format!("socks5://127.0.0.1:{port}"),
        None => "direct://".to_owned(),
    }
}

/// Why a navigation came to nothing; none when it did not.
fn refusal(answer: &Message) -> Option<String> {
    let refused = answer
        .error
        .as_ref()
        .map(|refusal| refusal.message.as_str());
    let failed = answer.result["errorText"].as_str();
    refused
        .or(failed)
        .filter(|reason| !reason.is_empty())
        .map(str::to_owned)
}

fn navigation_start(metrics: &Value) -> Option<Instant> {
    let metrics = metrics["metrics"].as_array()?;
    let metric = metrics
        .iter()
        .find(|metric| metric["name"] == "NavigationStart")?;
    events::instant(metric["value"].as_f64()?)
}

fn text(object: &Value, key: &str) -> String {
    object[key].as_str().unwrap_or_default().to_owned()
}
