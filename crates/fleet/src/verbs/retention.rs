//! `isobath fleet retention`.

use super::OPERATOR;
use crate::bus::retention::{Kept, Retention};
use crate::bus::{Access, Bus};
use kit::usage::print;
use serde_json::json;
use std::str::FromStr;
use std::time::Duration;
use units::Span;

/// Agents account for two days that they were away; what is kept for less would be missed, or handed over twice.
const SHORTEST: Duration = Duration::from_secs(3 * 86_400);
const FOR_GOOD: &str = "forever";

/// For how long to keep what.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    access: Access,
    /// Keep run outcomes for this long, such as 400d: at least 3d, or 'forever'.
    #[arg(long, value_name = "TIME")]
    outcomes: Option<Length>,
    /// Keep records for this long, such as 30d: at least 3d, or 'forever'.
    #[arg(long, value_name = "TIME")]
    records: Option<Length>,
    /// Print the retention in days as one JSON object; null means forever.
    #[arg(long)]
    json: bool,
}

/// A time, or for good.
#[derive(Clone, Copy, Debug)]
struct Length(Kept);

impl FromStr for Length {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == FOR_GOOD {
            return Ok(Self(None));
        }
        let span: Span = text.parse().map_err(|error| format!("{error}"))?;
        if span.0 < SHORTEST {
            return Err(format!(
                "agents upload results up to two days late - keep them for at least 3d, or '{FOR_GOOD}'"
            ));
        }
        Ok(Self(Some(span.0)))
    }
}

pub(super) async fn run(args: &Args) -> anyhow::Result<u8> {
    let bus = Bus::open(&args.access, OPERATOR).await?;
    if let Some(Length(kept)) = args.outcomes {
        bus.retain_outcomes(kept).await?;
    }
    if let Some(Length(kept)) = args.records {
        bus.retain_records(kept).await?;
    }
    let Retention { outcomes, records } = bus.retention().await?;
    let days = |kept: Kept| kept.map(|kept| kept.as_secs_f64() / 86_400.0);
    let words = |kept: Kept| {
        days(kept).map_or_else(|| FOR_GOOD.to_owned(), |days| format!("{days:.1} days"))
    };
    print(&if args.json {
        json!({ "outcomes_days": days(outcomes), "records_days": days(records) }).to_string()
    } else {
        format!(
            "outcomes are kept {}, records {}",
            words(outcomes),
            words(records)
        )
    })?;
    Ok(0)
}
