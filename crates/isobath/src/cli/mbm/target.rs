//! Options that say what the application needs.

use kit::usage::Usage;
use mbm::model::Model;
use mbm::target::{Derating, MTU, NamedTarget, OVERHEAD, Target, TargetSpec};
use std::path::Path;
use units::{Rate, Span};

/// Models that have a name and no more.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum ModelName {
    /// 3 W^2, the reference model of RFC 8337.
    Reference,
    /// 4/3 W^2, for a bottleneck without a queue.
    Queueless,
    /// (W/C)^2, the macroscopic model; see --constant.
    Mathis,
    /// CUBIC (RFC 9438).
    Cubic,
}

/// What the application needs.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Application target: a name from 'isobath mbm targets', or a TOML file.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["rate", "rtt", "mtu", "overhead"], required_unless_present_all = ["rate", "rtt"])]
    target: Option<String>,
    /// Target data rate, headers excluded.
    #[arg(long, requires = "rtt")]
    rate: Option<Rate>,
    /// Target RTT of the complete path; the path under test may be a part of it.
    #[arg(long, requires = "rate")]
    rtt: Option<Span>,
    /// Packet length in octets, headers included.
    #[arg(long, value_name = "OCTETS", default_value_t = MTU)]
    mtu: u32,
    /// Header octets per packet; 0 follows the thesis.
    #[arg(long, value_name = "OCTETS", default_value_t = OVERHEAD)]
    overhead: u32,
    /// Transport model that sets the target run length, the packets between two losses [default: the target's].
    #[arg(long, value_enum)]
    model: Option<ModelName>,
    /// Constant C of the 'mathis' model [default: sqrt(3/2)].
    #[arg(long, value_name = "C", requires = "model")]
    constant: Option<f64>,
    /// Derate bursts to this share of the target window, sent more often accordingly.
    #[arg(long, value_name = "SHARE", requires = "because")]
    derate_burst: Option<f64>,
    /// Derate the target run length to this share of the model's.
    #[arg(long, value_name = "SHARE", requires = "because")]
    derate_run_length: Option<f64>,
    /// Reason for derating, kept in the record (RFC 8337 section 5.3).
    #[arg(long, value_name = "REASON")]
    because: Option<String>,
}

/// What the options come to.
pub(super) struct Wanted {
    pub(super) name: Option<String>,
    pub(super) target: Target,
    pub(super) model: Model,
}

impl Options {
    /// The target and its model.
    pub(super) fn wanted(&self) -> anyhow::Result<Wanted> {
        let named = self.target.as_deref().map(find).transpose()?;
        let spec = match (&named, self.rate, self.rtt) {
            (Some(named), ..) => named.target.spec().clone(),
            (None, Some(rate), Some(rtt)) => TargetSpec {
                rate,
                rtt,
                mtu: self.mtu,
                overhead: self.overhead,
                derating: None,
            },
            _ => {
                return Err(Usage::of(anyhow::anyhow!(
                    "the target is missing - use --target, or --rate and --rtt"
                )));
            }
        };
        let spec = TargetSpec {
            derating: self.derating().or(spec.derating),
            ..spec
        };
        let target = Target::new(spec).map_err(Usage::of)?;
        let model = self.model(named.as_ref().map(|named| &named.model));
        model.run_length(&target).map_err(Usage::of)?;
        Ok(Wanted {
            name: named.map(|named| named.name),
            target,
            model,
        })
    }

    fn derating(&self) -> Option<Derating> {
        (self.derate_burst.is_some() || self.derate_run_length.is_some()).then(|| Derating {
            burst: self.derate_burst.unwrap_or(1.0),
            run_length: self.derate_run_length.unwrap_or(1.0),
            reason: self.because.clone().unwrap_or_default(),
        })
    }

    fn model(&self, named: Option<&Model>) -> Model {
        match self.model {
            None => named.cloned().unwrap_or_default(),
            Some(ModelName::Reference) => Model::Reference,
            Some(ModelName::Queueless) => Model::Queueless,
            Some(ModelName::Cubic) => Model::Cubic,
            Some(ModelName::Mathis) => Model::Mathis {
                c: self.constant.unwrap_or(mbm::model::C_EVERY_ACK),
            },
        }
    }
}

/// A target by its name, or from a file.
fn find(name: &str) -> anyhow::Result<NamedTarget> {
    let path = Path::new(name);
    let is_file = path.extension().is_some_and(|kind| kind == "toml");
    if !is_file {
        return NamedTarget::find(name).map_err(Usage::of);
    }
    let text = std::fs::read_to_string(path)
        .map_err(|error| Usage::of(anyhow::anyhow!("read {name}: {error}")))?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    NamedTarget::parse(&stem, &text).map_err(Usage::of)
}
