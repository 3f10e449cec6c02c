// What an estimator knows besides its answer: how its estimates moved, the modes of its pairs, round trips hop by hop.
import type { Axis, ExperimentSeries, Num, RunView } from "../data";
import type { Spec } from "../figure";
import { digits, mbps, ms, pct } from "../format";
import { generic } from "./generic";
import { scale } from "./load";
import { overlay } from "./overlay";
import { shorten } from "./path";
import { plural } from "./verdicts";

const axis = (label: string, unit: string, more: Partial<Axis> = {}): Axis => ({ label, unit, log: false, categories: [], min: null, max: null, ...more });
const series = (name: string, kind: ExperimentSeries["kind"], points: [number, Num][], variant: string | null = null): ExperimentSeries => ({ name, variant, kind, source: null, points, intervals: [] });

/** How delays are spread, of estimators by an even pace or slots. */
export function distribution(run: RunView): Spec | null {
  const delays = run.estimate?.delays;
  if (!delays?.ms) return null;
  const what = delays.is_round_trip ? "round trip" : "one-way delay above the least";
  const { min, p99 } = delays.ms;
  const { interval } = scale(Math.max((p99 - min) * 1.3, p99 * 1e-3), 5);
  const below = (v: number) => Number((Math.floor(v / interval) * interval).toPrecision(6));
  // Of round trips most are far from none, and close together.
  const axis = delays.is_round_trip ? { from: below(min), ends: [below(p99 + 1.2 * interval)] } : { ends: [scale(p99 * 1.15).max] };
  return overlay({
    id: "spread", what: "probes", quantity: what, unit: "ms", ...axis, members: [{ name: what, colour: (theme) => theme.blue, of: delays.ms }],
    title: delays.is_round_trip ? `95 % of the round trips take at most ${ms(delays.ms.p95)}, the longest ${ms(delays.ms.max)}` : `95 % of the probes wait at most ${ms(delays.ms.p95)} longer than the luckiest, the unluckiest ${ms(delays.ms.max)}`,
    about: "All probes that arrived: above up to the 99th percentile, below the tail with both axes logarithmic.",
    howTo: ["A steep curve is an even path.", "A foot that runs far to the right is a queue that fills at times; applications that are in a hurry feel it more than the median."],
  });
}

/** Estimates one after the other: of chirps one in each second that had enough of them, of yaz one for each round. */
export function history(run: RunView): Spec | null {
  const values = run.estimate?.details.history_mbps ?? [];
  if (values.length < 2) return null;
  const { value, low, high, estimator } = run.estimate!.answer;
  const level = (name: string, at: Num): ExperimentSeries[] => (at === null ? [] : [series("answer", "line", [[1, at], [values.length, at]], name || null)]);
  return generic({
    id: "history", title: `${plural(values.length, "estimate", "estimates")} one after the other, from ${mbps(Math.min(...values))} to ${mbps(Math.max(...values))}`,
    caption: `Each estimate of ${estimator ?? "the estimator"} in the order in which it was made, and the answer with its bounds. The first ones may be of a range of rates that was left again.`,
    how_to: ["Estimates that settle are of a path that stays as it is.", "Where they wander all the time, what is available changes, and no single figure tells it."],
    x: axis("number of the estimate", "", { min: 1, max: values.length }), y: axis("available", "Mbit/s", { min: 0 }),
    series: [series("estimate", "line", values.map((v, i): [number, Num] => [i + 1, v])), ...level("", value), ...(low === high ? [] : [...level("at least", low), ...level("at most", high)])],
  });
}

const range = ([low, high]: [number, number]) => `${digits(low)} to ${digits(high)}`;

export function modes(run: RunView): Spec | null {
  const { modes: all = [], asymptotic_mbps } = run.estimate?.details ?? {};
  if (!all.length) return null;
  const strongest = all.reduce((a, b) => (b.share > a.share ? b : a));
  return generic({
    id: "modes", title: `Most pairs arrive at ${range(strongest.mbps)} Mbit/s: ${pct(strongest.share * 100)} of them`,
    caption: `Rates at which pairs of packets arrived more often than at those beside them${asymptotic_mbps === null || asymptotic_mbps === undefined ? "" : `; long trains arrived at ${mbps(asymptotic_mbps)}`}.`,
    how_to: ["Each bar is a mode of the rates of pairs, the slowest first.", "Modes below the rate of long trains are of pairs that others came between, and are not the slowest link.", "Modes above the capacity are of pairs that were pushed together behind it."],
    x: axis("rate of pairs", "Mbit/s", { categories: all.map(({ mbps }) => range(mbps)) }), y: axis("share of all pairs", "%", { min: 0 }),
    series: [series("pairs", "bars", all.map(({ share }, i): [number, Num] => [i, share * 100]))],
  });
}

export function traced(run: RunView): Spec | null {
  const all = run.estimate?.details.hops ?? [];
  if (!all.length) return null;
  const { value } = run.estimate!.answer;
  const found = all.find(({ hop }) => hop === value);
  const of = (key: "idle_ms" | "loaded_ms") => all.map((hop, i): [number, Num] => [i, hop[key]]);
  const rise = found && found.loaded_ms !== null && found.idle_ms !== null ? found.loaded_ms - found.idle_ms : null;
  return generic({
    id: "hops", title: rise === null ? "No hop where round trips grow for good was found" : `From hop ${found!.hop} on round trips are longer under load, there by ${ms(rise)}`,
    caption: "Median round trip to each router on the way, before the load and under it.",
    how_to: ["From left to right the way leads away from here.", "Where the line under load leaves the other and stays above it, there is the queue; all hops behind it inherit its delay.", "A single hop that is high while the next is low again only answers slowly: routers do that."],
    x: axis("hop", "", { categories: all.map(({ hop, address }) => `${hop}: ${shorten(address ?? "silent")}`) }), y: axis("round trip", "ms", { min: 0 }),
    series: [series("round trip", "line", of("loaded_ms"), "under load"), series("round trip", "line", of("idle_ms"), "before the load")],
  });
}
