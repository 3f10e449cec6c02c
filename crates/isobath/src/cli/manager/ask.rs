//! `isobath manager ask`: what is a path of the overlay like?

use super::client::{Where, said};
use estimate::finding::words;
use kit::control::plain;
use kit::usage::print;
use manager::service::Answer;
use schema::estimate::Finding;
use schema::estimate::plan::{Method, What};
use std::fmt::Write as _;
use units::{Bytes, Span};

/// There is an answer, and no figure in it that can be believed.
const INCONCLUSIVE: u8 = 5;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit status: 0 answered; 3 no answer, the error says why; 5 answered, but not conclusive."
)]
pub(crate) struct Args {
    /// Property to estimate.
    #[arg(value_enum)]
    what: What,
    /// Peer at the end of the path: its name, or an overlay address.
    peer: String,
    /// Node where the path starts [default: this one].
    #[arg(long, value_name = "NODE")]
    from: Option<String>,
    /// Maximum age of an answer [default: 10s; with --every, half of it].
    #[arg(long, value_name = "TIME")]
    max_age: Option<Span>,
    /// Maximum half-width of the interval, in percent of the value.
    #[arg(long, value_name = "PERCENT")]
    within: Option<f64>,
    /// Maximum octets of added probes, such as 200kB; 0B for cached answers only.
    #[arg(long, value_name = "SIZE")]
    max_overhead: Option<Bytes>,
    /// Use only this estimator.
    #[arg(long, value_enum, value_name = "NAME")]
    estimator: Option<Method>,
    /// Timeout of an answer [default: 90s].
    #[arg(long, value_name = "TIME", conflicts_with_all = ["every", "above", "below"])]
    timeout: Option<Span>,
    /// Repeat at this interval, until interrupted.
    #[arg(long, value_name = "TIME")]
    every: Option<Span>,
    /// Report only crossings of this upper bound, such as 20ms, 5Mbit or 1%.
    #[arg(long, value_name = "BOUND")]
    above: Option<String>,
    /// Report only crossings of this lower bound.
    #[arg(long, value_name = "BOUND")]
    below: Option<String>,
    /// Print each answer as one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    service: Where,
}

pub(super) fn run(args: &Args) -> anyhow::Result<u8> {
    let watches = args.every.is_some() || args.above.is_some() || args.below.is_some();
    let response = args.service.fetch(&args.target(watches))?;
    if watches {
        response.events(|kind, data| args.tell(kind, data).map(|_| ()))?;
        return Ok(0);
    }
    let conclusive = args.tell("estimate", &response.whole()?)?;
    Ok(if conclusive { 0 } else { INCONCLUSIVE })
}

impl Args {
    fn target(&self, watches: bool) -> String {
        let text = |of: Option<&dyn ToString>| of.map(ToString::to_string);
        let parameters = [
            ("to", Some(self.peer.clone())),
            ("from", self.from.clone()),
            ("max_age", text(self.max_age.as_ref().map(|of| of as _))),
            ("within_pct", text(self.within.as_ref().map(|of| of as _))),
            (
                "max_overhead",
                text(self.max_overhead.as_ref().map(|of| of as _)),
            ),
            (
                "estimator",
                self.estimator.map(|method| method.name().to_owned()),
            ),
            ("timeout", text(self.timeout.as_ref().map(|of| of as _))),
            ("every", text(self.every.as_ref().map(|of| of as _))),
            ("above", self.above.clone()),
            ("below", self.below.clone()),
        ];
        let kind = if watches { "watch" } else { "estimates" };
        let mut target = format!("/v1/{kind}/{}?", self.what.name());
        for (name, value) in parameters {
            if let Some(value) = value {
                // Writing to a string cannot fail.
                let _ = write!(target, "{name}={}&", encoded(&value));
            }
        }
        target
    }

    /// Prints what has come; whether it is a figure.
    fn tell(&self, kind: &str, data: &str) -> anyhow::Result<bool> {
        if kind == "error" {
            print(&if self.json {
                data.to_owned()
            } else {
                said(data)
            })?;
            return Ok(false);
        }
        let answer: Answer = serde_json::from_str(data)?;
        print(&if self.json {
            data.to_owned()
        } else {
            page(&answer)
        })?;
        Ok(answer.conclusive)
    }
}

/// One line: the figure, and how good it is.
fn page(answer: &Answer) -> String {
    let finding = Finding {
        value: answer.value,
        low: answer.low,
        high: answer.high,
        ..Finding::default()
    };
    let mut line = format!(
        "{} {} to {}: {}",
        answer.what.name(),
        plain(&answer.from),
        plain(&answer.to),
        words(answer.what, &finding)
    );
    let _ = match (&answer.threshold, &answer.reason) {
        (Some(threshold), _) => {
            write!(line, ", {} {} now", plain(&threshold.side), threshold.value)
        }
        (None, Some(reason)) => write!(line, " ({})", plain(reason)),
        (None, None) => Ok(()),
    };
    let quality = &answer.quality;
    if let Some(pct) = quality.interval_pct {
        let _ = write!(line, "; within {pct:.1} %");
    }
    let _ = write!(
        line,
        "; age {:.1} s, {:.0} kB of probes with {:.0} kB of riders in {:.1} s by {}",
        quality.age_s,
        quality.overhead_bytes as f64 / 1e3,
        quality.rider_bytes as f64 / 1e3,
        answer.seconds,
        answer.estimator.name()
    );
    if answer.shared {
        line.push_str(", shared");
    }
    line
}

/// For a URL (RFC 3986 section 2.3).
fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for octet in text.bytes() {
        if octet.is_ascii_alphanumeric() || b"-._~".contains(&octet) {
            encoded.push(char::from(octet));
        } else {
            let _ = write!(encoded, "%{octet:02X}");
        }
    }
    encoded
}
