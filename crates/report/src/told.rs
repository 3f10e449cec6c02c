//! What `run.json` tells of a run, by the types that a measurement wrote it with.
//!
//! Fields that were added since have defaults, so records of the last versions are read. What cannot be read is not there: a
//! page of such a record has what its tables tell.

use record::Run;
use schema::LinkTruth;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The summary of a run; none of one that was killed, or of another version.
pub(crate) fn summary<T: DeserializeOwned>(run: &Run) -> Option<T> {
    part(&run.summary)
}

/// The plan of a run; none of one of another version.
pub(crate) fn plan<T: DeserializeOwned>(run: &Run) -> Option<T> {
    part(&run.plan)
}

/// What the lab's links carried, queued and dropped, whatever the measurement was; empty between real hosts.
pub(crate) fn links(run: &Run) -> Vec<LinkTruth> {
    let mut named = ["lab", "links"]
        .map(|key| part(&run.summary[key]))
        .into_iter();
    named.find_map(|links| links).unwrap_or_default()
}

/// A piece of free-form JSON; `None` when it is not there, or not as expected.
pub(crate) fn part<T: DeserializeOwned>(json: &Value) -> Option<T> {
    T::deserialize(json).ok()
}
