//! Who may do what at the NATS server: an agent what it needs, and nothing in the name of another.
//!
//! An agent hears changes of fleets, requests to be let in, demands of operators and answers to its own, and nothing else: it reads neither outcomes nor records of
//! others. It says
//! that it is there, and what became of its own runs. Two things are common to all, since NATS cannot part them: leases, and names of objects
//! in the store. Who holds leases without need keeps others from loading their paths; who replaces a record is found out by its digest, which
//! the agent that measured has signed.

use super::{AGENTS, DEMAND, FLEETS, KNOCK, LEASES, RECORDS, RESULT, RESULTS};
use crate::file::FleetFile;
use crate::{Name, PublicKey};
use std::fmt::Write as _;

/// Where answers to an agent go: to nobody else.
pub(crate) fn inbox(agent: &Name) -> String {
    format!("_INBOX_{agent}")
}

/// The part of a NATS server's configuration that knows the agents of `file` and `operators` by their keys.
///
/// # Errors
/// The first host without a key.
pub fn users(file: &FleetFile, operators: &[PublicKey]) -> Result<String, Name> {
    let mut text = format!(
        "# Who may do what for fleet '{}'. Put \"include users.conf\" into the configuration of nats-server.\nauthorization {{\n  users = [\n",
        file.name
    );
    let everything = [">".to_owned()];
    for operator in operators {
        user(&mut text, "an operator", operator, &everything, &everything);
    }
    for host in &file.hosts {
        let key = host.key.as_ref().ok_or_else(|| host.name.clone())?;
        let name = &host.name;
        let title = format!("agent '{name}'");
        user(&mut text, &title, key, &published(name), &heard(name));
    }
    text.push_str("  ]\n}\n");
    Ok(text)
}

fn user(text: &mut String, title: &str, key: &PublicKey, publish: &[String], subscribe: &[String]) {
    let list = |subjects: &[String]| {
        let subjects = subjects.iter();
        let subjects = subjects.map(|subject| format!("        \"{subject}\"\n"));
        subjects.collect::<String>()
    };
    let _ = write!(
        text,
        "    # {title}\n    {{ nkey: {key}, permissions: {{\n      publish: [\n{}      ]\n      subscribe: [\n{}      ]\n      allow_responses: true\n    }} }}\n",
        list(publish),
        list(subscribe)
    );
}

/// Subjects that agent `name` publishes to.
fn published(name: &Name) -> Vec<String> {
    let buckets = [FLEETS, AGENTS, LEASES].map(|bucket| format!("KV_{bucket}"));
    let streams = buckets
        .into_iter()
        .chain([RESULTS.to_owned(), format!("OBJ_{RECORDS}")]);
    let mut subjects: Vec<_> = streams
        .map(|stream| format!("$JS.API.STREAM.INFO.{stream}"))
        .collect();
    let own = format!("{RESULT}.*.*.{name}.*.*");
    subjects.extend([
        format!("$JS.API.DIRECT.GET.KV_{FLEETS}"),
        format!("$KV.{AGENTS}.{name}"),
        format!("$KV.{LEASES}.>"),
        format!("$JS.API.DIRECT.GET.KV_{LEASES}.$KV.{LEASES}.>"),
        format!("$JS.API.DIRECT.GET.{RESULTS}.{own}"),
        own,
        format!("$O.{RECORDS}.>"),
        format!("$JS.API.DIRECT.GET.OBJ_{RECORDS}.$O.{RECORDS}.M.>"),
        format!("{KNOCK}.*.{name}"),
    ]);
    subjects
}

/// Subjects that agent `name` hears.
fn heard(name: &Name) -> Vec<String> {
    vec![
        format!("$KV.{FLEETS}.*"),
        format!("{KNOCK}.{name}.*"),
        format!("{DEMAND}.{name}"),
        format!("{}.>", inbox(name)),
    ]
}

#[cfg(test)]
mod tests;
