//! A fit as the text of a file, which [`Fit::parse`](super::Fit::parse) reads again.
//!
//! Numbers are written as `Debug` writes them: with a point or an exponent, so that TOML has a float of any size.

use super::{Fit, Marginal, Statistic};
use core::fmt::Write as _;
use serde::Serialize;
use toml::Value;

impl Fit {
    /// The text of a file with this fit.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        let quoted = |words: &str| Value::from(words).to_string();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "name = {}", quoted(&self.name));
        let _ = writeln!(text, "summary = {}", quoted(&self.summary));
        if let Some(capture_s) = self.capture_s {
            let _ = writeln!(text, "capture_s = {capture_s:?}");
        }
        let _ = writeln!(text, "starts_per_second = {:?}", self.starts_per_second);
        let _ = writeln!(text, "concurrent_share = {:?}", self.concurrent_share);
        for stretch in &self.course {
            let _ = write!(
                text,
                "\n[[course]]\nat_s = {:?}\nfactor = {:?}\nfrom = {}\n",
                stretch.at_s,
                stretch.factor,
                quoted(&stretch.from)
            );
        }
        for (measure, marginal) in &self.marginals {
            let name = name(measure);
            let _ = write!(text, "\n[marginals.{name}]\n{}", marginal.text(&name));
        }
        text + &self.network()
    }

    /// Windows and losses.
    fn network(&self) -> String {
        let mut text = String::new();
        let ends = [
            ("initiator", &self.windows.initiator, &self.losses.initiator),
            ("acceptor", &self.windows.acceptor, &self.losses.acceptor),
        ];
        for (end, windows, losses) in ends {
            for window in windows {
                let _ = write!(
                    text,
                    "\n[[windows.{end}]]\nshare = {:?}\noctets = {}\nfrom = {}\n",
                    window.share,
                    window.octets,
                    Value::from(window.from.as_str())
                );
            }
            for loss in losses {
                let _ = write!(
                    text,
                    "\n[[losses.{end}]]\nshare = {:?}\nloss = {:?}\nfrom = {}\n",
                    loss.share,
                    loss.loss,
                    Value::from(loss.from.as_str())
                );
            }
        }
        text
    }
}

impl Marginal {
    fn text(&self, name: &str) -> String {
        let quoted = |words: &str| Value::from(words).to_string();
        let mut text = format!("least = {:?}\nmost = {:?}\n", self.least, self.most);
        if self.whole {
            text.push_str("whole = true\n");
        }
        if let Some(tail) = self.tail {
            let _ = writeln!(text, "tail = {tail:?}");
        }
        let (mean, from) = (self.mean.value, quoted(&self.mean.from));
        let _ = writeln!(
            text,
            "mean = {{ value = {mean:?}, from = {from} }}\nknots = ["
        );
        for knot in &self.knots {
            let (p, value, from) = (knot.p, knot.value, quoted(&knot.from));
            let _ = writeln!(
                text,
                "    {{ p = {p:?}, value = {value:?}, from = {from} }},"
            );
        }
        text.push_str("]\n");
        for check in &self.checks {
            let _ = write!(
                text,
                "[[marginals.{name}.checks]]\nstatistic = {}\nvalue = {:?}\nfrom = {}\n",
                statistic(check.statistic),
                check.value,
                quoted(&check.from)
            );
        }
        text
    }
}

fn statistic(statistic: Statistic) -> String {
    match statistic {
        Statistic::Quantile(q) => format!("{{ quantile = {q:?} }}"),
        Statistic::ShareFrom(value) => format!("{{ share_from = {value:?} }}"),
        named => Value::from(name(&named)).to_string(),
    }
}

/// The name of what is a word in a file.
fn name(of: &impl Serialize) -> String {
    Value::try_from(of).map_or_else(
        |_| String::new(),
        |name| match name {
            Value::String(name) => name,
            other => other.to_string(),
        },
    )
}
