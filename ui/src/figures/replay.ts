// Replays of traffic: what connections and responses took, and what the bottleneck saw. One replay, or several on the same axes.
import { FONT, heightOf, legend, legendGrowth, panelTitle, shades, stack, timeAxis, valueAxis, type Option, type Series } from "../chart";
import type { Line, Quantity, ReplayView, RunView, Steps } from "../data";
import { count, digits, mbps, ms, pct } from "../format";
import type { Theme } from "../palette";
import type { Spec } from "../figure";
import { timeTip } from "../tip";
import { overlay, upTo, type Member } from "./overlay";
import { scale } from "./load";
import { lineSeries } from "./timeline";

/** A replay with its name and its place among those beside it. */
export interface Shown { name: string; run: RunView; replay: ReplayView; colour: (theme: Theme) => string; dash: boolean }

const ORDER: ((theme: Theme) => string)[] = [(t) => t.blue, (t) => t.vermillion, (t) => t.green, (t) => t.purple, (t) => t.orange, (t) => t.sky, (t) => t.ink];

/** What tells replays apart: structure, round trips and windows where they differ; modes by line style. */
export function replaysOf(runs: RunView[]): Shown[] {
  const all = runs.flatMap((run) => (run.replay ? [{ run, replay: run.replay }] : []));
  const differ = (["structure", "rtt", "windows"] as const).filter((key) => new Set(all.map(({ replay }) => replay.models[key])).size > 1);
  const model = ({ models }: ReplayView) => differ.map((key) => models[key] ?? "?").join(", ");
  const modes = new Set(all.map(({ replay }) => replay.models.mode)).size > 1;
  const kinds = [...new Set(all.map(({ replay }) => model(replay)))];
  const named = all.map(({ run, replay }) => ({ run, replay, name: [model(replay), modes ? replay.models.mode : ""].filter(Boolean).join(", ") || run.name }));
  // Where models do not tell runs apart, each has a colour of its own: the same vectors in a lab and in virtual time.
  const twice = (!differ.length && !modes) || named.some(({ name }, i) => named.findIndex((other) => other.name === name) !== i);
  return named.map(({ run, replay, name }, i) => ({
    run, replay, name: twice ? run.name : name, dash: !twice && modes && replay.models.mode === "unconstrained",
    colour: ORDER[(twice ? i : kinds.indexOf(model(replay))) % ORDER.length]!,
  }));
}

const members = (shown: Shown[], of: (replay: ReplayView) => Quantity | null | undefined): Member[] =>
  shown.flatMap(({ name, colour, dash, replay }) => {
    const found = of(replay);
    return found ? [{ name, colour, dash, of: found }] : [];
  });

const one = (name: string, colour: (theme: Theme) => string, of: Quantity | null | undefined, dash = false): Member[] => (of ? [{ name, colour, dash, of }] : []);

/** The order of several by a figure, in words. */
function ordered(all: Member[], figure: (of: Quantity) => number, text: (v: number) => string): string {
  const sorted = [...all].sort((a, b) => figure(a.of) - figure(b.of));
  const [least, most] = [sorted[0]!, sorted.at(-1)!];
  if (all.length < 2) return `${text(figure(least.of))} (${least.name})`;
  return `${least.name} (${text(figure(least.of))}) to ${most.name} (${text(figure(most.of))})`;
}

export function durations(shown: Shown[]): Spec | null {
  const [only] = shown;
  const single = shown.length === 1 && only;
  const all = single ? [...one("from the first octet sent", (t) => t.blue, only.replay.duration_ms), ...one("from connect", (t) => t.vermillion, only.replay.duration_from_connect_ms, true)] : members(shown, ({ duration_ms }) => duration_ms);
  const first = all[0]?.of;
  if (!first) return null;
  const title = single ? `Half of the connections take at most ${ms(first.p50)}, ${pct((1 - upTo(first, 1e3)) * 100)} more than 1 s` : `Median durations of connections go from ${ordered(all, ({ p50 }) => p50, ms)}`;
  return overlay({
    id: "durations", title, what: "connections", quantity: "duration", unit: "ms", ends: [3_000, 500], members: all,
    about: `From the first octet sent to the last one received${single ? "; dashed: from the call of connect" : ""}. Complete connections of the whole run.${single ? "" : modesWords(shown)}`,
    howTo: ["A curve's height is the share of connections that took at most so long; below, the share that took longer, in powers of ten.", "Round trips show below 500 ms, where a single round trip for all makes steps.", "What users and servers wait by themselves shows above a second, and in the tail.", "A long duration is not bad by itself: what matters is whether the curves of two replays differ, and where."],
  });
}

const modesWords = (shown: Shown[]) => (shown.some(({ dash }) => dash) ? " Dashed: unconstrained." : "");

export function responses(shown: Shown[]): Spec | null {
  const all = shown.length === 1 ? one("responses", (t) => t.blue, shown[0]!.replay.response_ms) : members(shown, ({ response_ms }) => response_ms);
  const first = all[0]?.of;
  if (!first) return null;
  const title = shown.length === 1 ? `Half of the responses come within ${ms(first.p50)}, four in five within ${ms(first.p80)}` : `Median response times go from ${ordered(all, ({ p50 }) => p50, ms)}`;
  return overlay({
    id: "responses", title, what: "responses", quantity: "response time", unit: "ms", ends: [1_000, 500], members: all,
    about: `From the first octet of a request to the last octet of its response, of connections that were sequential in the original; the whole run.${modesWords(shown)}`,
    howTo: ["A curve's height is the share of responses that took at most so long.", "No response is faster than a round trip, so a curve begins at the shortest one.", "A queue at the bottleneck moves the whole curve to the right; servers that think make its tail."],
  });
}

export function strata(shown: Shown[]): Spec | null {
  const single = shown.length === 1;
  const names = shown[0]?.replay.strata.map(({ name }) => name) ?? [];
  // Of several replays the largest connections that all of them have.
  const largest = [...names].reverse().find((name) => shown.every(({ replay }) => replay.strata.some((one) => one.name === name && one.duration_ms)));
  const all = single ? shown[0]!.replay.strata.flatMap(({ name, duration_ms }, i) => one(name, ORDER[i]!, duration_ms)) : members(shown, ({ strata }) => strata.find(({ name }) => name === largest)?.duration_ms);
  if (!all.length) return null;
  const end = Math.max(3_000, ...all.map(({ of }) => of.p80)) * 1.1;
  return overlay({
    id: "strata", title: single ? `Small connections take ${ms(all[0]!.of.p50)}, the largest (${all.at(-1)!.name}) ${ms(all.at(-1)!.of.p50)} (medians)` : `Of connections ${largest} the medians go from ${ordered(all, ({ p50 }) => p50, ms)}`,
    what: "connections", quantity: "duration", unit: "ms", ends: [Number(end.toPrecision(1)), 500], members: all,
    about: `Durations by the octets that both ends sent (1 KB = 1,000 octets)${single ? "; ≥ 4 KB has those > 1 MB in it" : `: connections ${largest}`}.${modesWords(shown)}`,
    howTo: ["Small connections are made of round trips, large ones of the path's rate and the windows.", "A change of windows should move the large ones and leave the small ones alone."],
  });
}

export function lateness(shown: Shown[]): Spec | null {
  const all = shown.length === 1 ? one("connections", (t) => t.blue, shown[0]!.replay.start_lateness_ms) : members(shown, ({ start_lateness_ms }) => start_lateness_ms);
  if (!all.length) return null;
  const worst = Math.max(...all.map(({ of }) => of.p99));
  return overlay({
    id: "lateness", title: `99 of 100 connections begin at most ${ms(worst)} late`, what: "connections", quantity: "lateness", unit: "ms", ends: [scale(Math.max(...all.map(({ of }) => of.p99)) * 1.2).max], members: all,
    about: "From the planned start to the call of connect; the whole run.",
    howTo: ["This is the instrument: how well it kept to the plan.", "Lateness of some milliseconds is far below what connections take; if it grows towards round trips, the host was too slow for the load."],
  });
}

export function queueLengths(shown: Shown[]): Spec | null {
  const by = (unit: "ms" | "packets") => (shown.length === 1 ? one("queue", (t) => t.blue, shown[0]!.replay.queue?.[unit]) : members(shown, ({ queue }) => queue?.[unit]));
  const specOf = (unit: "ms" | "packets") => {
    const all = by(unit);
    if (!all.length) return null;
    const text = (v: number) => (unit === "ms" ? ms(v) : `${digits(v)} packets`);
    const empty = shown[0]!.replay.queue!.empty_pct;
    const top = Math.max(...all.map(({ of }) => of.p99), unit === "ms" ? 0.1 : 1);
    return overlay({
      id: "queue-lengths", title: shown.length === 1 ? `The queue is empty ${pct(empty)} of the time, and above ${text(all[0]!.of.p90)} for a tenth of it` : `The queue's 90th percentile goes from ${ordered(all, ({ p90 }) => p90, text)}`,
      what: "samples", quantity: "queue", unit, ends: [scale(top).max], members: all,
      about: `The queue before the bottleneck in the forward direction every 10 ms, in the part of the run that counts; in ms: the time it takes to drain.${modesWords(shown)}`,
      howTo: ["A curve's height is the share of time in which the queue was at most so long; where it begins at the left is the share in which it was empty.", "The further right a curve lies, the longer every packet waits.", "The same load makes a longer queue when it comes in bursts."],
    });
  };
  const units = (["ms", "packets"] as const).filter((unit) => by(unit).length);
  let spec = units[0] ? specOf(units[0]) : null;
  if (!spec) return null;
  return {
    ...spec, draw: (...given) => spec!.draw!(...given), table: () => spec!.table!(),
    ...(units.length > 1 ? { choice: { label: "In", options: [...units], choose: (index: number) => ((spec = specOf(units[index]!)), spec!.title) } } : {}),
  };
}

interface Panel { title: string; lines: { name: string; line: Line; colour: (theme: Theme) => string; dash?: boolean; more?: object }[]; text: (v: number) => string; inverse?: boolean }

const stepsLine = ({ bin_s, v }: Steps): Line => ({ t_s: v.map((_, i) => (i + 0.5) * bin_s), v, bin_s, n: v.length });
const highest = (line: Line) => Math.max(0, ...line.v.map((v) => v ?? 0));

/** Panels of lines under each other on one time axis, with what does not count hatched. */
function overTime(shown: Shown[], panels: Panel[], theme: Theme, width: number): { option: Option; height: number } {
  const end = Math.max(...shown.map(({ run }) => run.end_s));
  const entries = [...new Map(panels.flatMap(({ lines }) => lines).map(({ name, colour, dash }) => [name, { name, colour: colour(theme), ...(dash ? { dash } : {}) }])).values()];
  const few = entries.length < 2;
  const top = few ? 34 : 58 + legendGrowth(entries.map(({ name }) => name), width);
  let y = top;
  const places = stack(width, panels.map(() => 130), 46, 62, top).map((place, i) => {
    // A mirrored panel hangs below the one before it.
    if (panels[i]!.inverse) y -= 46;
    const placed = { ...place, top: y };
    y += place.height + 46;
    return placed;
  });
  const tops = panels.map(({ lines, inverse }, i) => Math.max(...[...lines, ...(inverse ? panels[i - 1]!.lines : []), ...(panels[i + 1]?.inverse ? panels[i + 1]!.lines : [])].map(({ line }) => highest(line))));
  const texts: ({ name: string; text: (v: number) => string } | null)[] = [];
  const series: Series[] = panels.flatMap(({ lines, title, text }, i) => {
    texts.push(null, ...lines.map(({ name }) => ({ name: lines.length > 1 || few ? `${name}${panels.length > 1 ? ` (${title.split(",")[0]})` : ""}` : title.split(",")[0]!, text })));
    return [shades(i, shown[0]!.run.phases, theme, false), ...lines.map(({ name, line, colour, dash, more }) => lineSeries(i, name, line, colour(theme), { lineStyle: { width: 1.1, color: colour(theme), ...(dash ? { type: [4, 3] } : {}) }, ...more }))];
  });
  const option = {
    title: panels.map(({ title, inverse }, i) => ({ ...panelTitle(title, places[i]!, theme), ...(inverse ? { left: places[i]!.left + 6, top: places[i]!.top + places[i]!.height - 20 } : {}) })),
    ...(few ? {} : { legend: legend(theme, entries) }), grid: places,
    xAxis: panels.map(({ inverse }, i) => ({ ...timeAxis(i, end, theme, i === panels.length - 1), ...(inverse ? { position: "bottom", axisLine: { onZero: false, show: true, lineStyle: { color: theme.faint } } } : {}) })),
    yAxis: panels.map(({ inverse }, i) => valueAxis(i, theme, { ...scale(tops[i] || 1), ...(inverse ? { inverse, axisLabel: { color: theme.faint, fontSize: 11, fontFamily: FONT, showMinLabel: false } } : {}) })),
    axisPointer: { link: [{ xAxisIndex: "all" }] }, tooltip: timeTip(theme, (_, i) => texts[i] ?? null, series), series,
  };
  return { option: option as unknown as Option, height: heightOf(places, 52) };
}

const lines = (shown: Shown[], of: (replay: ReplayView) => Line | null | undefined): Panel["lines"] =>
  shown.flatMap(({ name, colour, dash, replay }) => {
    const line = of(replay);
    return line?.n ? [{ name, line, colour, dash }] : [];
  });

const hatched = (shown: Shown[]) => (shown.some(({ run }) => run.phases.discarded.length) ? " What is hatched (warm-up and cool-down) counts for no figure of queue, throughput and arrivals." : "");

export function queueOverTime(shown: Shown[]): Spec | null {
  const panels: Panel[] = [
    { title: "Queue, ms to drain", lines: lines(shown, ({ queue }) => queue?.ms_line), text: ms },
    { title: "Queue, packets", lines: lines(shown, ({ queue }) => queue?.packets_line), text: (v: number) => `${digits(v)} packets` },
  ].filter((panel) => panel.lines.length);
  if (!panels.length) return null;
  const most = panels[0]!.lines.map(({ name, line }) => ({ name, top: highest(line) })).reduce((a, b) => (b.top > a.top ? b : a));
  return {
    id: "queue-time", zoom: true, title: shown.length > 1 ? `${most.name} has the longest queue, ${panels[0]!.text(most.top)}` : `The queue grows to ${panels[0]!.text(most.top)}`,
    about: `The queue before the bottleneck in the forward direction, sampled every 10 ms; smallest and largest value of each bin.${modesWords(shown)}${hatched(shown)}`,
    howTo: ["Upright strokes are bursts; a line that does not come back to 0 is a queue that never drains.", "What builds up in the first minutes is connections that begin all at once; a replay whose ends pause drains it soon."],
    draw: (theme, width) => overTime(shown, panels, theme, width),
    table: () => ({ head: ["replay", "samples", "empty, %", "mean, packets", "median, packets", "90 %, packets", "max, packets"], rows: shown.flatMap(({ name, replay: { queue } }) => (queue?.packets ? [[name, count(queue.packets.n), digits(queue.empty_pct), ...[queue.packets.mean, queue.packets.p50, queue.packets.p90, queue.packets.max].map(digits)]] : [])) }),
  };
}

export function activeConnections(shown: Shown[]): Spec | null {
  const single = shown.length === 1 ? shown[0] : undefined;
  const text = (v: number) => `${digits(v)} connections`;
  const panels: Panel[] = [{ title: "Active connections, by second", lines: lines(shown, ({ active }) => active?.connections), text }];
  const active = single?.replay.active;
  if (active) panels.push({ title: "Segments that open and close, per second", text: (v) => `${digits(v)} /s`, lines: [{ name: "SYN", line: active.syn_per_s, colour: (t) => t.green }, { name: "FIN", line: active.fin_per_s, colour: (t) => t.purple }, { name: "RST", line: active.rst_per_s, colour: (t) => t.vermillion }] });
  const counted = members(shown, ({ active }) => active?.counted);
  if (!panels[0]!.lines.length) return null;
  const title = !counted.length ? "Active connections" : shown.length === 1 ? `${text(counted[0]!.of.p50)} are active in the median second` : `The median of active connections goes from ${ordered(counted, ({ p50 }) => p50, digits)}`;
  return {
    id: "active", zoom: true, title, about: `A connection that is alive in any part of a second counts for that second.${modesWords(shown)}${hatched(shown)}`,
    howTo: ["The number of active connections is how often they begin times how long they last.", "By the second it hardly shows the round trip; pauses of users and servers multiply it."],
    draw: (theme, width) => overTime(shown, panels, theme, width),
    table: () => ({ head: ["replay", "mean", "median", "max"], rows: counted.map(({ name, of }) => [name, digits(of.mean), digits(of.p50), digits(of.max)]) }),
  };
}

/** The mean over the part of the run that counts. */
function within({ throughput, window_s }: ReplayView, way: "forward" | "reverse", unit: "mbps" | "kpps"): number | null {
  if (!throughput) return null;
  const { bin_s, v } = throughput[way][unit];
  const counted = v.filter((_, i) => i * bin_s >= window_s[0] && (i + 1) * bin_s <= window_s[1]);
  return counted.length ? counted.reduce((a, b) => a + b, 0) / counted.length : null;
}

export const forwardMbps = (replay: ReplayView) => within(replay, "forward", "mbps");

export function throughputOverTime(shown: Shown[]): Spec | null {
  const carried = (way: "forward" | "reverse", unit: "mbps" | "kpps") => lines(shown, ({ throughput }) => (throughput ? stepsLine(throughput[way][unit]) : null));
  const area = (panel: Panel): Panel => (shown.length === 1 ? { ...panel, lines: panel.lines.map((line) => ({ ...line, more: { areaStyle: { opacity: 0.16 } } })) } : panel);
  const kpps = (v: number) => `${digits(v)} kpackets/s`;
  const all: Panel[] = [
    { title: "Forward, Mbit/s", lines: carried("forward", "mbps"), text: mbps }, { title: "Reverse, Mbit/s", lines: carried("reverse", "mbps"), text: mbps, inverse: true },
    { title: "Forward, thousand packets/s", lines: carried("forward", "kpps"), text: kpps }, { title: "Reverse, thousand packets/s", lines: carried("reverse", "kpps"), text: kpps, inverse: true },
  ];
  const panels = all.map(area);
  if (panels.some((panel) => !panel.lines.length)) return null;
  const means = shown.map(({ replay }) => forwardMbps(replay));
  const rate = shown[0]!.replay.models.rate_mbps;
  const title = shown.length > 1 ? `Forward the bottleneck carries ${shown.map(({ name }, i) => `${mbps(means[i])} (${name})`).join(", ")}` : `The bottleneck carries ${mbps(means[0])} forward${rate && means[0] ? `, ${pct((means[0] / rate) * 100)} of its rate` : ""}, and ${mbps(within(shown[0]!.replay, "reverse", "mbps"))} back`;
  const bin = shown[0]!.replay.throughput!.forward.mbps.bin_s;
  return {
    id: "throughput", zoom: true, title, about: `What left the bottleneck in ${digits(bin)} s, headers included; the reverse direction hangs below the axis on the same scale.${modesWords(shown)}${hatched(shown)}`,
    howTo: ["The height above the axis is the forward direction, in which more is sent; below it the other.", "A flat top at the bottleneck's rate is a link that is full.", "The same octets in more packets are smaller messages."],
    draw: (theme, width) => overTime(shown, panels, theme, width),
    table: () => ({ head: ["replay", "forward, Mbit/s", "reverse, Mbit/s", "forward, packets/s", "reverse, packets/s"], rows: shown.map((one) => [one.name, ...(["mbps", "kpps"] as const).flatMap((unit) => (["forward", "reverse"] as const).map((way) => digits((within(one.replay, way, unit) ?? NaN) * (unit === "kpps" ? 1e3 : 1))))]) }),
  };
}
