// The classic: throughput and latency on one time axis, from before the load to after it.
import { heightOf, legend, panelTitle, shades, stack, timeAxis, valueAxis, type Option, type Series } from "../chart";
import { at, LATENCY, latencyKind, numberAt, probesOf, streamOf, type Line, type RunView, type Steps } from "../data";
import { digits, mbps, ms } from "../format";
import { byClass, classColour, classWords, kindWords, type Theme } from "../palette";
import type { Spec } from "../figure";
import type { Table } from "../dom";
import { timeTip } from "../tip";

interface Drawn { series: Series; name: string; text: (value: number) => string }

export const points = (line: Line): [number, number | null][] => line.t_s.map((t, i) => [t, line.v[i] ?? null]);

/** A line of envelope pairs, drawn thin. */
export function lineSeries(panel: number, name: string, line: Line, colour: string, more: object = {}): Series {
  return { type: "line", name, xAxisIndex: panel, yAxisIndex: panel, data: points(line), showSymbol: line.n < 3, symbolSize: 3, connectNulls: false, lineStyle: { width: 1.1, color: colour }, itemStyle: { color: colour }, emphasis: { disabled: true }, ...more } as Series;
}

/** Short strokes at the foot of a panel where something was lost. */
export function rug(panel: number, name: string, t_s: number[], colour: string, row: number): Series {
  return {
    type: "custom", name, xAxisIndex: panel, yAxisIndex: panel, silent: true, tooltip: { show: false }, data: t_s.map((t) => [t, 0]), itemStyle: { color: colour },
    renderItem: (params: any, api: any) => {
      const [x] = api.coord([api.value(0), 0]);
      const { x: left, width, y, height } = params.coordSys;
      if (x < left || x > left + width) return null;
      return { type: "rect", shape: { x: x - 0.6, y: y + height - 6 - row * 7, width: 1.2, height: 6 }, style: { fill: colour } };
    },
  } as unknown as Series;
}

function classesOf(run: RunView): string[] {
  const names = new Set<string>();
  for (const stream of run.streams) if ([...LATENCY, "tcp_rr", "tcp_load", "quic_load", "udp_load", "voip"].includes(stream.kind)) names.add(stream.class);
  return [...names].sort(byClass);
}

/** Streams of one class as one area: the sum of theirs. */
function areas(run: RunView, direction: string): { name: string; steps: Steps }[] {
  const sums = new Map<string, Steps>();
  for (const flow of run.tcp.flows.filter((flow) => flow.direction === direction)) {
    const name = streamOf(run, flow.stream)?.class ?? "?";
    const sum = sums.get(name) ?? { bin_s: flow.area_mbps.bin_s, v: [] };
    flow.area_mbps.v.forEach((v, i) => (sum.v[i] = (sum.v[i] ?? 0) + v));
    sums.set(name, sum);
  }
  // The most urgent on top of the others.
  return [...sums].map(([name, steps]) => ({ name, steps })).sort((a, b) => byClass(b.name, a.name));
}

function throughput(run: RunView, direction: string, panel: number, theme: Theme): Drawn[] {
  const drawn: Drawn[] = areas(run, direction).map(({ name, steps }) => {
    const colour = classColour(name, theme);
    const data = steps.v.map((v, i) => [(i + 0.5) * steps.bin_s, v]);
    const series = { type: "line", name: classWords(name), xAxisIndex: panel, yAxisIndex: panel, stack: direction, data, showSymbol: false, lineStyle: { width: 0 }, areaStyle: { color: colour, opacity: 0.72 }, itemStyle: { color: colour }, emphasis: { disabled: true } } as Series;
    return { series, name: `${direction} ${name}`, text: mbps };
  });
  const total = run.tcp.totals.find((total) => total.direction === direction);
  if (total) drawn.push({ series: lineSeries(panel, "sum", total.mbps, theme.ink, { lineStyle: { width: 0.8, color: theme.ink, opacity: 0.55 } }), name: `${direction} sum`, text: mbps });
  return drawn;
}

export function latency(run: RunView, kind: string, panel: number, theme: Theme): Drawn[] {
  const found = probesOf(run, kind).sort((a, b) => byClass(b.stream.class, a.stream.class));
  const families = new Set(found.map(({ stream }) => stream.family));
  const classes = [...new Set(found.map(({ stream }) => stream.class))];
  return found.flatMap(({ probe, stream }) => {
    const row = classes.indexOf(stream.class);
    const colour = classColour(stream.class, theme);
    const suffix = families.size > 1 ? ` IPv${stream.family}` : "";
    const name = `${kindWords(kind)} ${stream.class}${suffix}`;
    const dash = stream.family === 6 && families.size > 1 ? { lineStyle: { width: 1, color: colour, type: [4, 2] } } : {};
    const line = lineSeries(panel, classWords(stream.class), probe.line_ms, colour, dash);
    const lost = rug(panel, "lost", probe.lost.t_s, colour, row);
    return [{ series: line, name, text: ms }, { series: lost, name: "", text: ms }];
  });
}

const COLOURS = (theme: Theme) => [theme.purple, theme.green, theme.vermillion, theme.blue];

/** Far ends beside the servers, each with its colour. */
function besides(run: RunView, theme: Theme) {
  return probesOf(run, "beside").map(({ probe, stream }, i) => ({ probe, name: stream.name, colour: COLOURS(theme)[i % 4]!, row: i }));
}

function beside(run: RunView, panel: number, theme: Theme): Drawn[] {
  return besides(run, theme).flatMap(({ probe, name, colour, row }) => [
    { series: lineSeries(panel, name, probe.line_ms, colour), name, text: ms },
    { series: rug(panel, "lost", probe.lost.t_s, colour, row), name: "", text: ms },
  ]);
}

interface Panel { title: string; drawn: Drawn[]; height: number }

function panels(run: RunView, theme: Theme): Panel[] {
  const directions = new Set(run.tcp.flows.map((flow) => flow.direction));
  const wanted: [string, number, (panel: number) => Drawn[]][] = [];
  if (directions.has("down")) wanted.push(["Download, Mbit/s of payload, by class", 130, (i) => throughput(run, "down", i, theme)]);
  if (directions.has("up")) wanted.push(["Upload, Mbit/s of payload, by class", 110, (i) => throughput(run, "up", i, theme)]);
  const kind = latencyKind(run);
  if (kind) wanted.push([`${kindWords(kind)} round trip, ms`, 180, (i) => latency(run, kind, i, theme)]);
  if (probesOf(run, "tcp_rr").length) wanted.push(["TCP round trip, ms", 130, (i) => latency(run, "tcp_rr", i, theme)]);
  if (probesOf(run, "beside").length) wanted.push(["Round trip to the far ends beside the servers, ms", 130, (i) => beside(run, i, theme)]);
  return wanted.map(([title, height, make], i) => ({ title, height, drawn: make(i) }));
}

function draw(run: RunView, theme: Theme, width: number): { option: Option; height: number } {
  const made = panels(run, theme);
  const places = stack(width, made.map(({ height }) => height), 40, 58, 64);
  const all = made.flatMap(({ drawn }, i) => [{ series: shades(i, run.phases, theme, i === 0), name: "", text: ms }, ...drawn]);
  const last = made.length - 1;
  const option = {
    title: made.map(({ title }, i) => panelTitle(title, places[i]!, theme)),
    legend: legend(theme, [...classesOf(run).map((name) => ({ name: classWords(name), colour: classColour(name, theme) })), ...besides(run, theme)]),
    grid: places,
    xAxis: made.map((_, i) => timeAxis(i, run.end_s, theme, i === last)),
    yAxis: made.map((_, i) => valueAxis(i, theme, { min: 0 })),
    axisPointer: { link: [{ xAxisIndex: "all" }] },
    tooltip: timeTip(theme, (_, i) => (all[i]?.name ? { name: all[i]!.name, text: all[i]!.text } : null), all.map(({ series }) => series), true),
    series: all.map(({ series }) => series),
  };
  return { option: option as unknown as Option, height: heightOf(places) };
}

function finding(run: RunView): string {
  const idle = numberAt(run.run.summary, "latency_ms.idle.p50");
  const loaded = numberAt(run.run.summary, "latency_ms.loaded.p50");
  if (idle !== null && loaded !== null) {
    const ratio = loaded / idle;
    return ratio > 1.2 ? `With the load, round trips grow from ${ms(idle)} to ${ms(loaded)}` : `Round trips stay at ${ms(loaded)} under load (${ms(idle)} idle)`;
  }
  if (idle !== null) return `Round trips of ${ms(idle)} without load`;
  return "Throughput and round trips over time";
}

function numbers(run: RunView): Table {
  const rows = run.probes.streams.flatMap((probe) => {
    const stream = streamOf(run, probe.stream);
    return (["idle", "loaded"] as const).flatMap((phase) => {
      const found = probe[phase];
      if (!stream || !found || !(stream.kind.endsWith("_rr") || ["tcp_connect", "beside"].includes(stream.kind))) return [];
      const f = found.ms;
      return [[stream.name, phase, found.sent, found.lost, digits(f?.min), digits(f?.p50), digits(f?.p95), digits(f?.p99), digits(f?.max)]];
    });
  });
  const flows = run.tcp.flows.map((flow) => [streamOf(run, flow.stream)?.name ?? "", "loaded", "", "", "", "", "", "", `${digits(flow.loaded_mbps)} Mbit/s mean`]);
  return { head: ["stream", "phase", "sent", "lost", "min, ms", "p50, ms", "p95, ms", "p99, ms", "max, ms"], rows: [...rows, ...flows] };
}

export function timeline(run: RunView): Spec | null {
  if (!panels(run, { } as Theme).length) return null;
  const bin = Math.max(0, ...run.probes.streams.map(({ line_ms }) => line_ms.bin_s ?? 0));
  const pairs = bin > 0 ? `minimum and maximum of every ${digits(bin * 1e3)} ms are drawn` : "every round trip is drawn";
  const cut = run.phases.discarded.length ? "; what is hatched was left out of the figures" : "";
  const both = new Set(probesOf(run, latencyKind(run) ?? "").map(({ stream }) => stream.family)).size > 1 ? "; IPv6 is dashed" : "";
  const added = at(run.run.summary, "latency_ms.loaded") ? "The step up at the load's start is the queue that the load builds; how long the line takes to fall at its end is how long that queue takes to drain." : "Without load the lines should be flat.";
  return {
    id: "timeline", zoom: true, title: finding(run),
    about: `Throughput in bins of ${digits(run.tcp.flows[0]?.area_mbps.bin_s ?? 0.2)} s, its sum per 100 ms as a thin line; of round trips ${pairs}; strokes at the foot are lost requests${both}${cut}.`,
    howTo: [
      "Above, what the load carried, by class; below, the round trips of small requests that share the path with it.",
      "On a good path the lower panels stay as flat under load as they are idle, while the upper ones are full and even.",
      added,
      "If they rise, put a queue with fq_codel or CAKE at the bottleneck, a little below its rate.",
    ],
    draw: (theme, width) => draw(run, theme, width), table: () => numbers(run),
  };
}
