//! Page loads, and responsiveness.

use super::figures::Phases;
use record::Distribution;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Page loads, idle and loaded.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct WebFigures {
    /// What was loaded: a page model's name, or a URL.
    pub page: String,
    /// Time until all of the page was there, over the idle path: of the browser where there was one, else of the native loader.
    pub idle_ms: Option<Distribution>,
    /// The same under load.
    pub loaded_ms: Option<Distribution>,
    /// Time spent on loads for each page that was loaded, over the idle path: what failed or was cut off counts, too.
    pub idle_per_page_ms: Option<f64>,
    /// The same under load; where no page was loaded all of the time, and the true figure is larger.
    pub loaded_per_page_ms: Option<f64>,
    /// The former over the latter, times 100: 100 is a page that does not notice the load (RRUL, *The RRUL Score*).
    pub responsiveness: Option<f64>,
    /// Time until the first octet of the document.
    pub first_byte_ms: Phases,
    /// Rates of single objects, request to last octet, in Mbit/s: how fast short flows go.
    pub short_flow_mbps: Phases,
    /// By what loaded them and how: `chromium`, `browser`, `native h2`, `native h3`, `native http/1.1`.
    pub by_loader: BTreeMap<String, LoaderFigures>,
    /// Loads that failed, idle and loaded together.
    pub failed: u64,
    /// Loads that the end of their phase cut off.
    pub cut_off: u64,
}

impl WebFigures {
    /// How many times as long a page takes under load as idle, in words: `5.5`, or `at least 9.1` where none was finished under load.
    pub fn times_as_long(&self) -> Option<String> {
        let times = 100.0 / self.responsiveness?;
        let least = if self.loaded_ms.is_some() {
            ""
        } else {
            "at least "
        };
        Some(format!("{least}{times:.1} times as long"))
    }
}

/// The loads of one loader.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct LoaderFigures {
    /// Over the idle path.
    pub idle_ms: Option<Distribution>,
    /// Under load.
    pub loaded_ms: Option<Distribution>,
    /// Mean, standard deviation and 95 % confidence interval of the mean under load.
    pub loaded_mean_ms: Option<Estimate>,
    /// The same over the idle path.
    pub idle_mean_ms: Option<Estimate>,
    /// Time spent on loads for each page that was loaded, over the idle path.
    pub idle_per_page_ms: Option<f64>,
    /// The same under load.
    pub loaded_per_page_ms: Option<f64>,
    /// The former over the latter, times 100.
    pub responsiveness: Option<f64>,
}

/// A mean with its uncertainty (Student's t).
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// The standard deviation; null for a single value.
    pub sd: Option<f64>,
    /// Its 95 % confidence interval; null for a single value.
    pub ci95: Option<[f64; 2]>,
}

/// Round trips per minute (draft-ietf-ippm-responsiveness).
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub struct Rpm {
    /// Before the load.
    pub idle: Option<f64>,
    /// Under load.
    pub loaded: Option<f64>,
    /// Trimmed mean of TCP handshakes under load.
    pub tcp_ms: Option<f64>,
    /// Trimmed mean of TLS handshakes under load.
    pub tls_ms: Option<f64>,
    /// Trimmed mean of requests on new connections under load.
    pub http_ms: Option<f64>,
    /// Trimmed mean of the round trips of the load's own connections, by the kernel's estimate. (The draft sends requests on
    /// them; ours carry nothing but load.)
    pub self_ms: Option<f64>,
}
