//! The first page: all fleets, and the agents that are there.

use super::html::escape;
use crate::messages::Presence;
use crate::{Moment, Name};
use std::fmt::Write as _;

/// A fleet among others: its name, whether it is paused, its measurements and the pairs of which something is known.
pub(super) struct Line<'a> {
    pub(super) fleet: &'a Name,
    pub(super) paused: bool,
    pub(super) measures: usize,
    pub(super) pairs: usize,
    pub(super) bad: usize,
}

/// Its content.
pub(super) fn content(fleets: &[Line<'_>], agents: &[Presence], now: Moment) -> String {
    let mut page = format!("<h1>{}</h1>\n", sentence(fleets, agents));
    if fleets.is_empty() {
        page.push_str("<p>'isobath fleet apply FILE' makes a fleet.</p>\n");
    } else {
        page.push_str("<table><thead><tr><th scope=\"col\">fleet</th><th scope=\"col\">state</th><th scope=\"col\">measurements</th><th scope=\"col\">paths</th><th scope=\"col\">to be looked at</th></tr></thead><tbody>");
    }
    for Line {
        fleet,
        paused,
        measures,
        pairs,
        bad,
    } in fleets
    {
        let state = if *paused { "paused" } else { "running" };
        let _ = writeln!(
            page,
            "<tr><th scope=\"row\"><a href=\"/fleet/{fleet}\">{fleet}</a></th><td>{state}</td><td>{measures}</td><td>{pairs}</td><td>{bad}</td></tr>"
        );
    }
    if !fleets.is_empty() {
        page.push_str("</tbody></table>\n");
    }
    listed(&mut page, agents, now);
    page
}

fn sentence(fleets: &[Line<'_>], agents: &[Presence]) -> String {
    let bad: usize = fleets.iter().map(|fleet| fleet.bad).sum();
    let there = match agents.len() {
        1 => "1 agent is there".to_owned(),
        count => format!("{count} agents are there"),
    };
    match (fleets.len(), bad) {
        (0, _) => format!("{there}, and no fleet"),
        (_, 0) => format!("{there}; no path has to be looked at"),
        (_, 1) => format!("{there}; 1 path should be looked at"),
        (_, bad) => format!("{there}; {bad} paths should be looked at"),
    }
}

fn listed(page: &mut String, agents: &[Presence], now: Moment) {
    if agents.is_empty() {
        return page.push_str("<p>'isobath agent --name NAME' on each host starts an agent.</p>\n");
    }
    page.push_str("<h2>Agents</h2>\n<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th scope=\"col\">agent</th><th scope=\"col\">site</th><th scope=\"col\">version</th><th scope=\"col\">far end</th><th scope=\"col\">running</th><th scope=\"col\">waiting</th><th scope=\"col\">heard</th></tr></thead><tbody>");
    for agent in agents {
        let site = agent.site.as_ref().map_or("-", Name::as_str);
        let _ = writeln!(
            page,
            "<tr><th scope=\"row\">{}</th><td>{site}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{} s ago</td></tr>",
            agent.name,
            escape(&agent.isobath),
            agent.address,
            agent.running.len(),
            agent.waiting,
            now.since(agent.said).as_secs()
        );
    }
    page.push_str("</tbody></table></div>\n");
}
