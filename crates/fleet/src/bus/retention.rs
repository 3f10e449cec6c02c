//! For how long outcomes and records are kept.

use super::{Bus, RECORDS, RESULTS};
use crate::Moment;
use std::time::Duration;

/// For how long something is kept; none is for good.
pub type Kept = Option<Duration>;

/// For how long what is handed over is kept.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Retention {
    /// What became of runs.
    pub outcomes: Kept,
    /// Their records.
    pub records: Kept,
}

impl Retention {
    /// The moment before which outcomes may be gone.
    pub fn since(&self, now: Moment) -> Moment {
        let kept = self
            .outcomes
            .and_then(|kept| u64::try_from(kept.as_millis()).ok());
        let since = kept.map_or(0, |kept| now.as_millis().saturating_sub(kept));
        Moment::from_millis(since)
    }
}

impl Bus {
    /// For how long outcomes and records are kept.
    ///
    /// # Errors
    /// When the server does not say.
    pub async fn retention(&self) -> anyhow::Result<Retention> {
        Ok(Retention {
            outcomes: self.kept(RESULTS).await?,
            records: self.kept(&of_records()).await?,
        })
    }

    /// Keeps outcomes for so long from now on; what is older goes at once.
    ///
    /// # Errors
    /// When the server does not take it.
    pub async fn retain_outcomes(&self, kept: Kept) -> anyhow::Result<()> {
        self.keep_for(RESULTS, kept).await
    }

    /// The same for records.
    ///
    /// # Errors
    /// When the server does not take it.
    pub async fn retain_records(&self, kept: Kept) -> anyhow::Result<()> {
        self.keep_for(&of_records(), kept).await
    }

    async fn kept(&self, stream: &str) -> anyhow::Result<Kept> {
        let stream = self.jetstream.get_stream(stream).await?;
        let age = stream.cached_info().config.max_age;
        Ok((age > Duration::ZERO).then_some(age))
    }

    async fn keep_for(&self, stream: &str, kept: Kept) -> anyhow::Result<()> {
        let stream = self.jetstream.get_stream(stream).await?;
        let mut config = stream.cached_info().config.clone();
        let kept = kept.unwrap_or_default();
        if config.max_age != kept {
            config.max_age = kept;
            self.jetstream.update_stream(config).await?;
        }
        Ok(())
    }
}

/// The stream behind the object store of records.
pub(super) fn of_records() -> String {
    format!("OBJ_{RECORDS}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_for_good_is_kept_since_ever() {
        let now = Moment::from_millis(10_000);
        assert_eq!(Retention::default().since(now), Moment::default());
        let of = |outcomes| Retention {
            outcomes: Some(Duration::from_secs(outcomes)),
            records: None,
        };
        assert_eq!(of(3).since(now), Moment::from_millis(7_000));
        assert_eq!(of(30).since(now), Moment::default());
    }
}
