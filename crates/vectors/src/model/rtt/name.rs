//! What models of round-trip time are called.

use super::Model;
use core::fmt;
use core::str::FromStr;

/// No model has this name.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` is none of nodelay, mean, median, 10path, da, da:PATHS, uniform and usernet")]
pub struct UnknownModel(String);

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::NoDelay => "nodelay",
            Self::Mean => "mean",
            Self::Median => "median",
            Self::TenPaths => "10path",
            Self::Da(paths) => return f.pad(&format!("da:{paths}")),
            Self::Uniform => "uniform",
            Self::Usernet => "usernet",
        };
        f.pad(name)
    }
}

impl FromStr for Model {
    type Err = UnknownModel;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || UnknownModel(text.to_owned());
        Ok(match text {
            "nodelay" => Self::NoDelay,
            "mean" | "meanRTT" => Self::Mean,
            "median" | "medianRTT" => Self::Median,
            "10path" | "10pathRTT" => Self::TenPaths,
            "da" | "30path" => Self::DA,
            "uniform" | "uniformRTT" => Self::Uniform,
            "usernet" => Self::Usernet,
            _ => {
                let paths = text.strip_prefix("da:").ok_or_else(unknown)?;
                Self::Da(paths.parse().map_err(|_| unknown())?)
            }
        })
    }
}

impl TryFrom<String> for Model {
    type Error = UnknownModel;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Model> for String {
    fn from(model: Model) -> Self {
        model.to_string()
    }
}
