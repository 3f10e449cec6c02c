//! What a load came to, from all who saw some of it: the page, the events, the proxy.

use super::Error;
use super::page::{End, Navigation};
use super::proxy::Sightings;
use super::waterfall::Waterfall;
use crate::PageLoad;
use std::time::Duration;
use units::HttpVersion;
use units::Instant;

/// Chromium's names of what goes wrong most often, by how they begin, and what they mean.
const MEANINGS: [(&str, &str); 8] = [
    (
        "net::ERR_CERT_",
        "the server's certificate is not the right one",
    ),
    ("net::ERR_SSL_", "no agreement on TLS"),
    (
        "net::ERR_NAME_NOT_RESOLVED",
        "the name is unknown or no resolver answers",
    ),
    ("net::ERR_CONNECTION_REFUSED", "nobody listens there"),
    (
        "net::ERR_ADDRESS_UNREACHABLE",
        "there is no way to the host",
    ),
    ("net::ERR_CONNECTION_TIMED_OUT", "the host did not answer"),
    (
        "net::ERR_EMPTY_RESPONSE",
        "the server closed the connection without an answer",
    ),
    ("net::ERR_SOCKS_CONNECTION", "the host was not reached"),
];

/// A load, as it is put together.
#[derive(Debug)]
pub(super) struct Outcome {
    url: String,
    began: Instant,
    timeout: Duration,
    /// What the browser told of requests.
    pub(super) waterfall: Waterfall,
    /// What the page told of itself.
    pub(super) navigation: Navigation,
    /// How it ended.
    pub(super) end: Result<End, Error>,
}

impl Outcome {
    /// Of a load of `url` that begins now.
    pub(super) fn new(url: &str, began: Instant, timeout: Duration) -> Self {
        Self {
            url: url.to_owned(),
            began,
            timeout,
            waterfall: Waterfall::default(),
            navigation: Navigation::default(),
            end: Ok(End::Stopped),
        }
    }

    /// The load with all its figures; on a page of ours paths tell the numbers of objects.
    pub(super) fn page_load(self, seen: Sightings, is_ours: bool) -> PageLoad {
        let started = self.started();
        let number = |path: &str| if is_ours { object_number(path) } else { None };
        let first_byte = self.waterfall.first_byte();
        PageLoad {
            started,
            protocol: self.waterfall.protocol().unwrap_or(HttpVersion::H2),
            load_time: self.navigation.load_time,
            first_byte: first_byte.map(|first| first.since(started)),
            error: self.error(seen.failure),
            objects: self.waterfall.objects(started, number, seen.connections),
        }
    }

    /// The start of the navigation; where the page cannot tell, that is when the document was asked for,
    /// some milliseconds later.
    fn started(&self) -> Instant {
        let told = self.navigation.started.or_else(|| self.waterfall.began());
        told.unwrap_or(self.began).max(self.began)
    }

    /// What went wrong, in one line. What the proxy knows is closer to the cause than what Chromium
    /// makes of it.
    fn error(&self, proxy: Option<String>) -> Option<String> {
        let line = |what: &str| format!("load {}: {what}", shorten(&self.url));
        let failure = || self.waterfall.failure().map(in_words);
        match &self.end {
            Err(error) => Some(line(&error.to_string())),
            Ok(End::Loaded) => proxy.or_else(failure),
            Ok(End::Failed(reason)) => Some(proxy.unwrap_or_else(|| line(&in_words(reason)))),
            Ok(End::Stopped) => Some(line("stopped")),
            Ok(End::Crashed) => Some(line("the page crashed in Chromium")),
            Ok(End::Late) => {
                let late = format!("did not finish within {} s", self.timeout.as_secs_f64());
                let cause = proxy.or_else(failure).map(|cause| format!(" ({cause})"));
                Some(line(&(late + &cause.unwrap_or_default())))
            }
        }
    }
}

/// The number in a path of ours: `/` is the document, `/12.css` object 12.
fn object_number(path: &str) -> Option<u16> {
    let file = path.strip_prefix('/')?;
    let digits = file.split_once('.').map_or("", |(digits, _)| digits);
    if file.is_empty() {
        Some(0)
    } else {
        digits.parse().ok()
    }
}

/// `reason` with a word on what it means, where Chromium's own is a name.
fn in_words(reason: &str) -> String {
    let known = MEANINGS.iter().find(|(name, _)| reason.contains(name));
    known.map_or_else(
        || reason.to_owned(),
        |(_, words)| format!("{words} ({reason})"),
    )
}

fn shorten(url: &str) -> String {
    const LENGTH: usize = 120;
    let is_plain = |c: &char| !c.is_control();
    let short: String = url.chars().filter(is_plain).take(LENGTH).collect();
    let rest = if short.len() < url.len() { ".." } else { "" };
    short + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(end: Result<End, Error>, proxy: Option<&str>) -> Option<String> {
        let mut outcome = Outcome::new("https://a.test/", Instant::ZERO, Duration::from_secs(3));
        outcome.end = end;
        outcome.error(proxy.map(str::to_owned))
    }

    #[test]
    fn each_end_has_its_line() {
        assert_eq!(error(Ok(End::Loaded), None), None);
        let late = error(Ok(End::Late), None);
        assert_eq!(
            late.unwrap(),
            "load https://a.test/: did not finish within 3 s"
        );
        let late = error(Ok(End::Late), Some("no answer"));
        assert_eq!(
            late.unwrap(),
            "load https://a.test/: did not finish within 3 s (no answer)"
        );
        let refused = Ok(End::Failed("net::ERR_CERT_AUTHORITY_INVALID".to_owned()));
        let line = error(refused, None).unwrap();
        assert!(line.contains("certificate is not the right one"), "{line}");
        let died = Err(Error::Ended("killed by signal 9".to_owned()));
        let line = error(died, None).unwrap();
        assert_eq!(
            line,
            "load https://a.test/: Chromium ended by itself: killed by signal 9"
        );
    }

    #[test]
    fn the_proxy_knows_better() {
        let vague = End::Failed("net::ERR_SOCKS_CONNECTION_FAILED".to_owned());
        let known = "look up a.test at 192.0.2.1:53: no answer";
        assert_eq!(error(Ok(vague), Some(known)).unwrap(), known);
    }

    #[test]
    fn paths_of_ours_hold_the_object_s_number() {
        assert_eq!(object_number("/"), Some(0));
        assert_eq!(object_number("/12.css"), Some(12));
        for other in ["", "/favicon.ico", "/70000.css", "/12", "12.css"] {
            assert_eq!(object_number(other), None, "{other}");
        }
    }
}
