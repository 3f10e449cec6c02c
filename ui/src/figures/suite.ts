// All tests of a run: what each says, why, and what would change it; and those of several runs beside each other.
import type { MbmTest, RunView } from "../data";
import { h, type Table } from "../dom";
import type { Spec } from "../figure";
import { bytes, count, digits, list, pct } from "../format";
import { plain } from "./asked";
import { badge, plural } from "./verdicts";

const marksOf = ({ counts, judged }: MbmTest) => counts ?? judged;

/** Lost or marked of packets, with the interval. */
function losses(test: MbmTest): string {
  const counts = marksOf(test);
  if (!counts) return "–";
  const marks = counts.lost + counts.ce;
  return `${count(marks)} of ${count(counts.packets)}`;
}

function interval({ share }: MbmTest): string {
  return share ? `${pct(share.observed_pct)} (${digits(share.low_pct)} to ${digits(share.high_pct)})` : "";
}

function row(test: MbmTest): HTMLElement {
  const cell = (name: string, ...content: (Node | string | null)[]) => h("td", { "data-name": name }, ...content);
  const independent = test.runs?.independent === false ? h("span", { class: "aside" }, test.runs.says) : null;
  return h("tr", {},
    h("th", { scope: "row" }, test.test, test.section ? h("span", { class: "aside" }, `RFC 8337, ${test.section}`) : null),
    cell("verdict", badge(test.outcome)),
    cell("why", test.says ?? "It did not come to its end.", independent),
    cell("what would change it", test.would_change ?? "–"),
    cell("lost or marked of packets", losses(test), h("span", { class: "aside" }, interval(test))),
    cell("took", test.seconds === null ? "–" : `${digits(test.seconds)} s`, test.packets_sent === null ? null : h("span", { class: "aside" }, `${plural(test.packets_sent, "packet", "packets")}, ${bytes(test.bytes_sent)}`)));
}

const HEAD = ["test", "verdict", "why", "what would change it", "lost or marked of packets, with its 95 % interval", "took"];

function tests(run: RunView): HTMLElement {
  const rows = run.mbm!.tests.map(row);
  return h("div", { class: "scroll suite", tabindex: "0", role: "region", "aria-label": "Tests" },
    h("table", {}, h("thead", {}, h("tr", {}, ...HEAD.map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, ...rows)));
}

function finding(all: MbmTest[]): string {
  const of = (outcome: string) => all.filter((test) => test.outcome === outcome).map(({ test }) => test);
  const [passed, failed, open, wrong] = ["PASS", "FAIL", "INCONCLUSIVE", "ERROR"].map(of) as [string[], string[], string[], string[]];
  if (passed.length === all.length) return all.length === 1 ? `${all[0]!.test} passes` : `All ${all.length} tests pass`;
  const named = (names: string[], one: string, several: string) => (names.length ? `${names.length > 3 ? plural(names.length, "test", "tests") : list(names)} ${names.length === 1 ? one : several}` : "");
  const ended = all.filter(({ outcome }) => outcome === null).map(({ test }) => test);
  const parts = [named(failed, "fails", "fail"), named(wrong, "went wrong", "went wrong"), named(open, "could not tell", "could not tell"), named(ended, "has no verdict", "have no verdict")].filter(Boolean);
  if (all.length === 1 && parts.length) return parts[0]!;
  return `${passed.length} of ${plural(all.length, "test passes", "tests pass")}${parts.length ? `; ${parts.join("; ")}` : ""}`;
}

const yes = (value: boolean | null) => (value === null ? "not known" : value ? "held" : "DID NOT HOLD");

/** The rest of what the record says of each test. */
function numbers(run: RunView): Table {
  const rows = run.mbm!.tests.flatMap((test): Table["rows"] => {
    const { pattern, reordering, rtt_ms, runs } = test;
    const told: [string, string | null][] = [
      ["growth period, s", test.growth_s === null ? null : digits(test.growth_s)], ["test period, s", test.test_s === null ? null : digits(test.test_s)],
      ["judged by", test.judged && `${count(test.judged.packets)} packets, ${count(test.judged.lost)} lost, ${count(test.judged.ce)} marked`],
      ["fewest packets that pass", test.walk?.least_packets === undefined ? null : count(test.walk.least_packets)],
      ...test.preconditions.map(({ name, held, evidence }): [string, string] => [`precondition ${name.replace(/_/g, " ")}`, `${yes(held)}: ${evidence}`]),
      ["bursts", pattern && `${count(pattern.bursts)} of ${plural(pattern.burst_packets, "packet", "packets")}${pattern.headway_ms === null ? "" : ` every ${digits(pattern.headway_ms)} ms`}; ${count(pattern.late)} late, ${count(pattern.smeared)} took too long`],
      ["round trip, ms", rtt_ms && `least ${digits(rtt_ms.min)}, median ${digits(rtt_ms.p50)}, 99 % ${digits(rtt_ms.p99)}, longest ${digits(rtt_ms.max)}`],
      ["losses", runs && `${plural(runs.bursts, "burst", "bursts")}, the longest of ${count(runs.longest_burst)}: ${runs.says}`],
      ["reordered", reordering && `${count(reordering.reordered)} (${pct(reordering.reordered_pct)}), by ${plural(reordering.max_extent, "packet", "packets")} at most`],
      ["copies", test.duplicates === null ? null : count(test.duplicates)], ["too late, counted as lost", test.late === null ? null : count(test.late)],
    ];
    return told.flatMap(([what, value]) => (value === null ? [] : [[test.test, what, value]]));
  });
  return { head: ["test", "figure", "value"], rows };
}

export function suite(run: RunView): Spec | null {
  const all = run.mbm?.tests ?? [];
  if (!all.length) return null;
  return {
    id: "suite", title: finding(all),
    about: "Losses and marks are those of all packets of a test by the receiver's counters, with the exact 95 % interval; a test is judged by those behind its growth period.",
    howTo: [
      "Each test sends in a pattern in which a transport would, at the target's rate and no faster, and judges the path by what is lost or marked, or by how its queue grows.",
      "PASS and FAIL are answers about the path; INCONCLUSIVE means that time ran out, ERROR that the test itself was not made as it should, so that it says nothing about the path.",
      "The path carries the target when every test passes; one FAIL is enough for it not to.",
      "Each row says what would change its verdict, and the table below has the preconditions with their evidence.",
    ],
    html: () => tests(run), table: () => numbers(run),
  };
}

/** Tests by runs, with their verdicts. */
export function verdictsByRun(runs: RunView[]): HTMLElement | null {
  const known = runs.filter(({ mbm }) => mbm);
  if (!known.length) return null;
  const names = [...new Set(known.flatMap(({ mbm }) => mbm!.tests.map(({ test }) => test)))];
  const cell = (run: RunView, name: string) => {
    const test = run.mbm?.tests.find((one) => one.test === name);
    return h("td", {}, test ? badge(test.outcome) : "not made", test ? h("span", { class: "aside" }, `${losses(test)} lost or marked`) : null);
  };
  const told = (what: string, text: (run: RunView) => string) => h("tr", {}, h("th", { scope: "row" }, what), ...runs.map((run) => h("td", {}, text(run))));
  const rows = [
    h("tr", { class: "all" }, h("th", { scope: "row" }, "all tests together"), ...runs.map((run) => h("td", {}, badge(run.run.verdict), run.run.status === "complete" ? null : h("span", { class: "aside" }, run.run.status.toUpperCase())))),
    ...names.map((name) => h("tr", {}, h("th", { scope: "row" }, name), ...runs.map((run) => cell(run, name)))),
    told("target", ({ mbm }) => (mbm?.asked.rate_mbps ? `${plain(mbm.asked.rate_mbps)} Mbit/s over ${plain(mbm.asked.rtt_ms)} ms` : "–")),
    told("run length, packets", ({ mbm }) => count(mbm?.asked.run_length_packets)),
    told("round trip of the path, ms", ({ mbm }) => digits(mbm?.asked.path_rtt_ms)),
  ];
  return h("div", { class: "scroll suite by-run", tabindex: "0", role: "region", "aria-label": "Verdicts by run" },
    h("table", {}, h("caption", {}, "Verdicts of each test and run"), h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "test"), ...runs.map(({ name }) => h("th", { scope: "col" }, name)))), h("tbody", {}, ...rows)));
}

