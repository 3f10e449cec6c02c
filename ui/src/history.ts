// The page of a monitor: the answer, what to beware of, the key figures, the history, what went wrong.
import type { History, HistoryReport } from "./data";
import { h, table } from "./dom";
import { Figure } from "./figure";
import { history as figure, OUTCOMES, shareWords, utc } from "./figures/history";
import { plain } from "./figures/asked";
import { badge, plural } from "./figures/verdicts";
import { count, digits, pct } from "./format";

const when = (time: string) => utc(Date.parse(time));

/** What of the file could not be read. */
function unread({ skipped, torn }: History): HTMLElement | null {
  const told = [
    torn ? "The last line of the history is cut short: its writer was stopped, or is just at it. That run is not shown." : null,
    skipped ? `${plural(skipped, "line", "lines")} of the history could not be read and ${skipped === 1 ? "is" : "are"} left out.` : null,
  ].filter((text) => text !== null);
  return told.length ? h("section", { class: "warnings", "aria-label": "Warnings" }, h("h2", {}, told.length === 1 ? "A warning" : `${told.length} warnings`), h("ul", {}, ...told.map((text) => h("li", {}, text)))) : null;
}

function tiles({ says, runs, last, tracks, asked }: History): HTMLElement {
  const track = tracks.find(({ packets }) => packets > 0);
  const without = runs - (says[0] ?? 0);
  const found: ([string, string, string] | null)[] = [
    ["Runs that pass", `${count(says[0])} of ${count(runs)}`, without ? says.flatMap((n, i) => (n && i ? [`${count(n)} ${OUTCOMES[i] ?? "without a verdict"}`] : [])).join(", ") : "every one"],
    ["Last run", last.verdict ?? "no verdict", when(last.started)],
    track ? ["Lost or marked, all runs", pct(track.share?.observed_pct), `${track.test}: 95 % interval ${digits(track.share?.low_pct)} to ${digits(track.share?.high_pct)} %`] : null,
    track ? ["Lost or marked, worst run", pct(track.worst_pct), track.test ?? ""] : null,
    asked?.good_pct ? ["Loss: good up to / bad from", `${Number(asked.good_pct.toPrecision(2))} / ${asked.bad_pct === null ? "–" : Number(asked.bad_pct.toPrecision(2))}\u00a0%`, `one in ${count(asked.run_length_packets)} packets, and four times that`] : null,
    asked?.rate_mbps ? ["Target", `${plain(asked.rate_mbps)} Mbit/s`, `over a round trip of ${plain(asked.rtt_ms)} ms${asked.name ? ` (${asked.name})` : ""}`] : null,
  ];
  return h("ul", { class: "tiles", "aria-label": "Key figures" }, ...found.filter((tile) => tile !== null).map(([name, value, aside]) =>
    h("li", {}, h("a", { href: "#history" }, h("span", { class: "name" }, name), h("span", { class: "value" }, value), h("span", { class: "aside" }, aside)))));
}

function failures({ failures: all }: History): HTMLElement | null {
  if (!all.length) return null;
  return h("section", { class: "failures", "aria-label": "Runs without a verdict" }, h("h2", {}, "Why runs have no verdict"),
    table({ head: ["why", "runs", "last"], rows: all.map(({ why, runs, last }) => [why, count(runs), when(last)]) }, "Why runs have no verdict"));
}

/** All tests over all runs, where there are several. */
function totals({ tracks }: History): HTMLElement | null {
  const tests = tracks.filter(({ test }) => test !== null);
  if (tests.length < 2) return null;
  const rows = tests.map(({ test, levels, packets, marks, share, worst_pct }) => [test, ...OUTCOMES.map((_, i) => count(levels[0]!.says[i]!.reduce((sum, n) => sum + n, 0))), shareWords(marks, packets, share?.low_pct ?? null, share?.high_pct ?? null), pct(worst_pct)]);
  return h("section", { "aria-label": "Tests" }, h("h2", {}, "Tests over all runs"), table({ head: ["test", ...OUTCOMES.map((outcome) => outcome ?? "no verdict"), "lost or marked of packets, with its 95 % interval", "in the worst run"], rows }, "Tests over all runs"));
}

export function historyParts({ history }: HistoryReport): HTMLElement[] {
  const { name, runs, last, t_ms, asked } = history;
  const target = asked ? "" : "what was asked is not known: no record of a run could be read";
  const origin = h("p", { class: "origin" }, ["mbm, again and again", name, `${utc(t_ms[0] ?? 0)} to ${when(last.started)}`, plural(runs, "run", "runs"), target].filter(Boolean).join(" · "));
  const now = h("p", { class: "origin now" }, "Last run: ", badge(last.verdict), ` ${when(last.started)}, record ${last.record}${last.failure ? ` – ${last.failure}` : ""}`);
  return [origin, now, unread(history), tiles(history), new Figure(figure(history)).element, totals(history), failures(history)].filter((part) => part !== null);
}
