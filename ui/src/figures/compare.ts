// Several runs on the same axes, and how they differ in words.
import { axisStyle, FONT, heightOf, legend, logAxis, panelTitle, shades, stack, timeAxis, tiles, valueAxis, type Option, type Series } from "../chart";
import { LATENCY, latencyKind, probesOf, type Comparison, type Figures, type Line, type Report, type RunView } from "../data";
import { digits, mbps, ms } from "../format";
import { h, table } from "../dom";
import { byClass, classColour, classWords, kindWords } from "../palette";
import type { Spec } from "../figure";
import { timeTip, tip, tooltip } from "../tip";
import { scale } from "./load";
import { latency, lineSeries } from "./timeline";

const highest = (lines: Line[]) => Math.max(0, ...lines.flatMap((line) => line.v.map((v) => v ?? 0)));

export function differences(report: Report, comparison: Comparison): HTMLElement {
  const head = ["figure", ...report.runs.flatMap((run, i) => (i === 0 ? [`${run.name} (the first)`] : [run.name, "against the first, 95 % confidence"]))];
  const rows = comparison.rows.map((row) => [`${row.what}, ${row.unit}`, ...row.values.flatMap((value, i) => (i === 0 ? [digits(value)] : [digits(value), row.differences[i]?.words ?? (value === null || row.values[0] === null ? "not measured" : "too little to say")]))]);
  return h("div", { class: "below" }, table({ head, rows }, "The runs in figures"));
}

/** Round trips of each run in a panel of its own, all with the same axes. */
export function timelines(runs: RunView[]): Spec | null {
  const probes = (run: RunView) => probesOf(run, latencyKind(run) ?? "");
  const shown = runs.filter((run) => probes(run).length);
  if (shown.length < 2) return null;
  const end = Math.max(...shown.map((run) => run.end_s));
  const top = scale(highest(shown.flatMap((run) => probes(run).map(({ probe }) => probe.line_ms))));
  const classes = [...new Set(shown.flatMap((run) => probes(run).map(({ stream }) => stream.class)))].sort(byClass);
  return {
    id: "compare-timeline", zoom: true, title: "Round trips of each run, on the same axes", about: "Round trips, minimum and maximum per bin; the loaded time is shaded in each run.",
    howTo: ["Each panel is one run; all have the same scales, so heights can be compared.", "The lower and flatter, the better."],
    draw: (theme, width) => {
      const places = stack(width, shown.map(() => 110), 40, 58, 58);
      const named: ({ name: string; text: (v: number) => string } | null)[] = [];
      const series = shown.flatMap((run, i) => {
        const drawn = latency(run, latencyKind(run) ?? "", i, theme);
        named.push(null, ...drawn.map(({ name, text }) => (name ? { name: `${run.name}: ${name}`, text } : null)));
        return [shades(i, run.phases, theme, false), ...drawn.map(({ series: one }) => one)];
      });
      const option = {
        title: shown.map((run, i) => panelTitle(`${run.name}: ${kindWords(latencyKind(run) ?? "")} round trip, ms`, places[i]!, theme)),
        legend: legend(theme, classes.map((name) => ({ name: classWords(name), colour: classColour(name, theme) }))),
        grid: places, xAxis: shown.map((_, i) => timeAxis(i, end, theme, i === shown.length - 1)), yAxis: shown.map((_, i) => valueAxis(i, theme, top)),
        axisPointer: { link: [{ xAxisIndex: "all" }] }, tooltip: timeTip(theme, (_, i) => named[i] ?? null, series, true), series,
      };
      return { option: option as unknown as Option, height: heightOf(places) };
    },
    table: () => quantiles(shown),
  };
}

function quantiles(runs: RunView[]) {
  const rows = runs.flatMap((run) => run.probes.classes.flatMap((c) => (["idle", "loaded"] as const).flatMap((phase) => {
    const f = c[phase]?.ms;
    return f ? [[run.name, `${kindWords(c.kind)} ${c.class}${c.direction === "both" ? "" : ` ${c.direction}`}`, phase, f.n, ...[f.p5, f.p50, f.p95, f.p99, f.max].map(digits)]] : [];
  })));
  return { head: ["run", "class", "phase", "n", "p5, ms", "p50, ms", "p95, ms", "p99, ms", "max, ms"], rows };
}

/** Throughput of each run, both directions, same axes. */
export function rates(runs: RunView[]): Spec | null {
  const shown = runs.filter((run) => run.tcp.totals.length);
  if (shown.length < 2) return null;
  const end = Math.max(...shown.map((run) => run.end_s));
  const directions = ["down", "up"].filter((direction) => shown.some((run) => run.tcp.totals.some((total) => total.direction === direction)));
  const lineOf = (run: RunView, direction: string) => run.tcp.totals.find((total) => total.direction === direction)?.mbps;
  const top = (direction: string) => scale(highest(shown.flatMap((run) => lineOf(run, direction) ?? [])));
  return {
    id: "compare-rates", zoom: true, title: "Throughput of each run, on the same axes", about: "Sum of the load streams of a direction per 100 ms, minimum and maximum per bin.",
    howTo: ["Each row is one run, each column a direction; a column has the same scale.", "Deep notches are times in which the path was not full."],
    draw: (theme, width) => {
      const columns = width > 600 ? directions.length : 1;
      const cells = shown.flatMap((run) => directions.map((direction) => ({ run, direction })));
      const places = tiles(width, cells.length, columns, 84, { gapX: 56 });
      const series = cells.flatMap(({ run, direction }, i) => [shades(i, run.phases, theme, false), lineSeries(i, direction, lineOf(run, direction) ?? { t_s: [], v: [], bin_s: null, n: 0 }, theme.ink)]);
      const option = {
        title: cells.map(({ run, direction }, i) => panelTitle(`${run.name} ${direction}, Mbit/s`, places[i]!, theme)),
        grid: places, xAxis: cells.map((_, i) => timeAxis(i, end, theme, i >= cells.length - columns)), yAxis: cells.map(({ direction }, i) => valueAxis(i, theme, top(direction))),
        axisPointer: { link: [{ xAxisIndex: "all" }] },
        tooltip: timeTip(theme, (_, i) => (i % 2 ? { name: `${cells[(i - 1) / 2]!.run.name} ${cells[(i - 1) / 2]!.direction}`, text: mbps } : null), series),
        series,
      };
      return { option: option as unknown as Option, height: heightOf(places) };
    },
    table: () => ({ head: ["run", "direction", "stream", "mean under load, Mbit/s"], rows: shown.flatMap((run) => run.tcp.flows.map((flow) => [run.name, flow.direction, run.streams.find(({ id }) => id === flow.stream)?.name ?? "", digits(flow.loaded_mbps)])) }),
  };
}

/** Idle and loaded quantiles of every run on one line each. */
export function quantileLines(runs: RunView[]): Spec | null {
  const rows = [...LATENCY, "udp_paced", "tcp_rr", "voip", "dns"].flatMap((kind) => runs.map((run) => ({ kind, run, ...merged(run, kind) }))).filter(({ idle, loaded }) => idle || loaded);
  if (!rows.length) return null;
  const values = rows.flatMap(({ idle, loaded }) => [idle, loaded].flatMap((f) => (f ? [f.p5, f.max] : []))).filter((v) => v > 0);
  const name = (row: (typeof rows)[number]) => `${kindWords(row.kind)}, ${row.run.name}`;
  return {
    id: "compare-quantiles", title: "Idle and loaded, run by run", about: "Hollow: idle median. Filled: loaded median; the line runs to the 99th percentile, the ring is the maximum. Logarithmic.",
    howTo: ["The distance between the hollow and the filled dot is what load adds in that run.", "Compare rows of the same kind: further left is better."],
    draw: (theme, width) => {
      const left = Math.min(260, width * 0.36);
      const place = { left, top: 12, width: width - left - 24, height: rows.length * 26 };
      const mark = (phase: "idle" | "loaded"): Series => ({
        type: "custom", name: phase, encode: { x: [1, 2, 3], y: 0 }, data: rows.flatMap((row, i) => (row[phase] ? [[i, row[phase]!.p50, row[phase]!.p99, row[phase]!.max]] : [])),
        renderItem: (_: any, api: any) => {
          const y = api.coord([api.value(1), api.value(0)])[1];
          const [a, b, c] = [1, 2, 3].map((i) => api.coord([api.value(i), api.value(0)])[0]) as [number, number, number];
          const colour = phase === "idle" ? theme.blue : theme.vermillion;
          return { type: "group", children: [
            { type: "line", shape: { x1: a, y1: y, x2: b, y2: y }, style: { stroke: colour, lineWidth: 1.6 } },
            { type: "circle", shape: { cx: a, cy: y, r: 4.5 }, style: { fill: phase === "idle" ? theme.paper : colour, stroke: colour, lineWidth: 1.6 } },
            { type: "circle", shape: { cx: c, cy: y, r: 2.5 }, style: { fill: theme.paper, stroke: colour, lineWidth: 1 } },
          ] };
        },
      } as unknown as Series);
      const option = {
        grid: place, xAxis: { ...logAxis(0, Math.min(...values), Math.max(...values), theme), name: "ms", nameLocation: "middle", nameGap: 24 },
        yAxis: { ...axisStyle(theme), type: "category", inverse: true, data: rows.map(name), splitLine: { show: false }, axisTick: { show: false }, axisLabel: { color: theme.ink, fontSize: 12, fontFamily: FONT, width: left - 12, overflow: "truncate" } },
        tooltip: tooltip(theme, "item", ({ value, seriesName }: { value: number[]; seriesName: string }) => tip(`${name(rows[value[0]!]!)}, ${seriesName}`, ["median", "99 %", "maximum"].map((what, i) => ({ name: what, value: ms(value[i + 1]) })))),
        series: [mark("idle"), mark("loaded")],
      };
      return { option: option as unknown as Option, height: place.height + 56 };
    },
    table: () => quantiles(runs),
  };
}

/** The class of best effort, or what there is. */
function merged(run: RunView, kind: string): { idle: Figures | null; loaded: Figures | null } {
  const all = run.probes.classes.filter((c) => c.kind === kind);
  const chosen = all.find((c) => c.class === "CS0") ?? all[0];
  return { idle: chosen?.idle?.ms ?? null, loaded: chosen?.loaded?.ms ?? null };
}
