//! The congestion control of a lab: one that is stated, on every machine the same.
//!
//! A lab should show the same everywhere, so its TCP is CUBIC (RFC 9438) unless somebody chose. Kernels let only some congestion
//! controls be defaults of a network namespace (`net.ipv4.tcp_allowed_congestion_control`); those of this list are what every
//! program gets. Where cubic is not on it, the sockets of this program have it all the same, one by one
//! ([`sys::tcp::pin_congestion`]), and other programs get Reno, which every kernel allows, instead of whatever the machine happens
//! to prefer.

use sys::netns::Netns;
use sys::{Error, tcp};

/// What a lab has unless somebody chose.
const STATED: &str = "cubic";
/// What every kernel has and allows everybody.
const FALLBACK: &str = "reno";

/// Which congestion control TCP has on the nodes of a lab.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Congestion {
    /// Of the sockets of this program.
    pub stated: String,
    /// Of programs that choose none: the default of the nodes.
    pub default: String,
}

impl Congestion {
    /// Finds out what the kernel allows in a namespace, and pins it on the sockets of this process. `wanted` is what somebody
    /// chose.
    ///
    /// # Errors
    /// When the kernel has not, or does not allow, what was chosen.
    pub(crate) fn choose(wanted: Option<&str>) -> Result<Self, Error> {
        let chosen = Netns::create()?.run(|| Self::find(wanted))?;
        tcp::pin_congestion(&chosen.stated);
        Ok(chosen)
    }

    /// The same, in the namespace of the calling thread.
    fn find(wanted: Option<&str>) -> Result<Self, Error> {
        let stated = wanted.unwrap_or(STATED);
        let of = |stated: &str, default: &str| Self {
            stated: stated.to_owned(),
            default: default.to_owned(),
        };
        if tcp::set_default_congestion(stated).is_ok() {
            return Ok(of(stated, stated));
        }
        match tcp::try_congestion(stated) {
            Ok(()) => Ok(of(stated, FALLBACK)),
            Err(error) if wanted.is_some() => Err(error),
            Err(_) => Ok(of(FALLBACK, FALLBACK)),
        }
    }

    /// Makes it the default of the namespace of the calling thread.
    pub(crate) fn apply(&self) -> Result<(), Error> {
        tcp::set_default_congestion(&self.default)
    }

    /// What to tell whoever runs other programs; nothing where they get what is stated.
    pub fn notice(&self) -> Option<String> {
        (self.stated != self.default).then(|| {
            format!(
                "TCP of other programs in this lab is {}, not {}: the kernel does not let {} be a default here - add it to net.ipv4.tcp_allowed_congestion_control, or choose it socket by socket",
                self.default, self.stated, self.stated
            )
        })
    }
}
