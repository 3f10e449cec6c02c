// Distributions: curves by class, boxes by stream.
import { axisStyle, FONT, heightOf, legend, logAxis, panelTitle, tiles, valueAxis, type Option, type Series } from "../chart";
import { LATENCY, latencyKind, probesOf, streamOf, type Class, type Curve, type Figures, type RunView } from "../data";
import { digits, ms } from "../format";
import { byClass, classColour, classWords, kindWords, type Theme } from "../palette";
import type { Spec } from "../figure";
import type { Table } from "../dom";
import { lastAt, tip, tooltip } from "../tip";

const KINDS = [...LATENCY, "udp_paced", "tcp_rr"];

function classesOf(run: RunView, kind: string): Class[] {
  return run.probes.classes.filter((c) => c.kind === kind && (c.idle || c.loaded)).sort((a, b) => byClass(b.class, a.class));
}

export function curve(panel: number, name: string, { v, p }: Curve, ccdf: boolean, style: object, colour: string): Series {
  // The last point of 1 - F is 0, which a logarithmic axis does not have.
  const data = v.map((x, i) => [x, ccdf ? 1 - (p[i] ?? 1) : (p[i] ?? 1)]).filter(([, y]) => !ccdf || (y as number) > 1e-7);
  return { type: "line", name, xAxisIndex: panel, yAxisIndex: panel, data, showSymbol: false, step: "end", lineStyle: { color: colour, ...style }, itemStyle: { color: colour }, emphasis: { disabled: true } } as Series;
}

export function quantileMarks(panel: number, theme: Theme): Series {
  const mark = (yAxis: number, text: string) => ({ yAxis, label: { formatter: text, position: "insideEndTop", color: theme.faint, fontSize: 10, fontFamily: FONT } });
  return { type: "line", xAxisIndex: panel, yAxisIndex: panel, data: [], silent: true, markLine: { silent: true, symbol: "none", lineStyle: { color: theme.faint, type: "dotted", width: 1 }, data: [mark(0.5, "median"), mark(0.95, "95 %")] } } as unknown as Series;
}

function range(run: RunView, kinds: string[]): [number, number] {
  const all = kinds.flatMap((kind) => classesOf(run, kind)).flatMap((c) => [c.idle, c.loaded]).flatMap((s) => (s ? [s.ms.min, s.ms.max] : []));
  return [Math.min(...all.filter((v) => v > 0)), Math.max(...all)];
}

function draw(run: RunView, theme: Theme, width: number): { option: Option; height: number } {
  const kinds = KINDS.filter((kind) => classesOf(run, kind).length);
  const columns = width > 620 ? 2 : 1;
  const places = tiles(width, kinds.length * 2, columns, 190, { top: 58, gapY: 74, gapX: 74 });
  const [low, high] = range(run, kinds);
  const names: string[] = [];
  const series: Series[] = [];
  kinds.forEach((kind, row) => {
    for (const ccdf of [false, true]) {
      const panel = row * 2 + Number(ccdf);
      if (!ccdf) {
        series.push(quantileMarks(panel, theme));
        names.push("");
      }
      for (const c of classesOf(run, kind)) {
        for (const phase of ["idle", "loaded"] as const) {
          const spread = c[phase];
          if (!spread) continue;
          series.push(curve(panel, classWords(c.class), spread.curve, ccdf, phase === "idle" ? { width: 1.6, type: [4, 3] } : { width: 1.8 }, classColour(c.class, theme)));
          names.push(`${kindWords(kind)} ${c.class}, ${phase}`);
        }
      }
    }
  });
  const classes = [...new Set(kinds.flatMap((kind) => classesOf(run, kind).map((c) => c.class)))].sort(byClass);
  const option = {
    title: kinds.flatMap((kind, row) => [
      panelTitle(`${kindWords(kind)}: share of round trips up to`, places[row * 2]!, theme),
      panelTitle(`${kindWords(kind)}: share above (the tail)`, places[row * 2 + 1]!, theme),
    ]),
    legend: legend(theme, classes.map((name) => ({ name: classWords(name), colour: classColour(name, theme) }))),
    grid: places,
    xAxis: places.map((_, i) => logAxis(i, low, high, theme, { name: "round trip, ms", nameLocation: "middle", nameGap: 24, axisPointer: { show: true, label: { show: false }, snap: false, lineStyle: { color: theme.faint, type: "dashed" } } })),
    yAxis: places.map((_, i) => (i % 2 === 0 ? valueAxis(i, theme, { min: 0, max: 1, interval: 0.25, axisLabel: { color: theme.faint, fontSize: 11, fontFamily: FONT, formatter: (v: number) => `${v * 100} %` } }) : { ...axisStyle(theme), type: "log", gridIndex: i, min: 1e-4, max: 1, axisLabel: { color: theme.faint, fontSize: 11, fontFamily: FONT, formatter: tailLabel } })),
    tooltip: tooltip(theme, "axis", (given: { axisValue: number; axisIndex: number }[]) => {
      const [x, panel] = [given[0]?.axisValue ?? 0, given[0]?.axisIndex ?? 0];
      const lines = (series as { data: [number, number][]; xAxisIndex: number; itemStyle?: { color: string } }[]).flatMap(({ data, xAxisIndex, itemStyle }, i) => {
        if (!names[i] || xAxisIndex !== panel) return [];
        const share = data[lastAt(data, x, (k) => data[k]?.[0] ?? 0)]?.[1] ?? panel % 2;
        return [{ colour: itemStyle?.color, name: names[i]!, value: `${Number((share * 100).toPrecision(3))} %` }];
      });
      return tip(`${panel % 2 ? "above" : "up to"} ${ms(x)}`, lines);
    }),
    series,
  };
  return { option: option as unknown as Option, height: heightOf(places, 48) };
}

export const tailLabel = (value: number) => (value >= 0.01 ? `${value * 100} %` : `${Number((value * 100).toPrecision(1))} %`);

function finding(run: RunView): string {
  const loaded = classesOf(run, latencyKind(run) ?? "").flatMap((c) => (c.loaded ? [{ name: c.class, p50: c.loaded.ms.p50, p99: c.loaded.ms.p99 }] : []));
  if (!loaded.length) return "How round trips are spread";
  const medians = loaded.map(({ p50 }) => p50);
  const worst = loaded.reduce((a, b) => (b.p99 > a.p99 ? b : a));
  if (loaded.length > 1 && Math.max(...medians) > 1.25 * Math.min(...medians)) {
    const sorted = [...loaded].sort((a, b) => a.p50 - b.p50);
    return `Under load ${sorted[0]!.name} waits least (median ${ms(sorted[0]!.p50)}), ${sorted.at(-1)!.name} most (${ms(sorted.at(-1)!.p50)})`;
  }
  const same = loaded.length > 1 ? "All classes wait alike under load: " : "Under load ";
  return `${same}one round trip in a hundred takes more than ${ms(worst.p99)}`;
}

export function spread(run: RunView): Spec | null {
  const kinds = KINDS.filter((kind) => classesOf(run, kind).length);
  if (!kinds.length) return null;
  return {
    id: "spread", title: finding(run),
    about: "Dashed: idle. Solid: loaded. Left the share of round trips up to a length, right the share above it with both axes logarithmic; at most 400 quantiles of each, and the exact tail.",
    howTo: [
      "Each curve climbs from the shortest round trip to the longest; its height at a length is the share of round trips that took at most so long.",
      "On a good path the solid curves lie on the dashed ones and are as steep.",
      "The distance from dashed to solid is the delay that load adds; a flat foot on the right-hand side is a long tail, which calls and games feel more than the median.",
      "Where classes lie apart, the path treats them apart.",
    ],
    draw: (theme, width) => draw(run, theme, width),
    table: () => quantiles(run.probes.classes),
  };
}

function quantiles(classes: Class[]): Table {
  const row = (c: Class, phase: "idle" | "loaded") => {
    const f = c[phase]?.ms;
    return f ? [[`${kindWords(c.kind)} ${c.class}${c.direction === "both" ? "" : ` ${c.direction}`}`, phase, f.n, ...[f.min, f.p5, f.p25, f.p50, f.p75, f.p95, f.p99, f.max, f.mean].map(digits)]] : [];
  };
  return { head: ["class", "phase", "n", "min, ms", "p5, ms", "p25, ms", "p50, ms", "p75, ms", "p95, ms", "p99, ms", "max, ms", "mean, ms"], rows: classes.flatMap((c) => [...row(c, "idle"), ...row(c, "loaded")]) };
}

interface Row { name: string; colour: string; idle: Figures | null; loaded: Figures | null }

function rowsOf(run: RunView, theme: Theme): Row[] {
  const order = [...KINDS, "beside", "dns"];
  return order.flatMap((kind) => probesOf(run, kind).sort((a, b) => byClass(a.stream.class, b.stream.class) || a.stream.family - b.stream.family)
    .map(({ probe, stream }) => ({
      name: kind === "beside" ? stream.name : `${kindWords(kind)} ${kind === "dns" ? "look-up" : stream.class}${run.run.path?.families?.length > 1 || stream.family === 6 ? ` IPv${stream.family}` : ""}${stream.ecn && stream.ecn !== "Not-ECT" ? ` ${stream.ecn}` : ""}`,
      colour: classColour(stream.class, theme), idle: probe.idle?.ms ?? null, loaded: probe.loaded?.ms ?? null,
    })));
}

function boxSeries(rows: Row[], phase: "idle" | "loaded", theme: Theme): Series {
  const data = rows.flatMap((row, i) => {
    const f = row[phase];
    return f ? [[i, f.p5, f.p25, f.p50, f.p75, f.p95, f.p99, f.max]] : [];
  });
  const side = phase === "idle" ? -0.19 : 0.19;
  return {
    type: "custom", name: phase, data, encode: { x: [1, 2, 3, 4, 5, 6, 7], y: 0 },
    renderItem: (_: any, api: any) => box(api, rows[api.value(0)]?.colour ?? theme.ink, side, phase === "idle", theme),
  } as unknown as Series;
}

/** Whiskers from 5 % to 95 %, the box from 25 % to 75 %, a stroke at the median, a dot at 99 %, a ring at the maximum. */
function box(api: any, colour: string, side: number, hollow: boolean, theme: Theme): object {
  const row = api.value(0);
  const band = api.size([0, 1])[1];
  const y = api.coord([api.value(1), row])[1] + side * band;
  const x = [1, 2, 3, 4, 5, 6, 7].map((i) => api.coord([api.value(i), row])[0]);
  const half = Math.min(6, band * 0.15);
  const line = (x1: number, y1: number, x2: number, y2: number, width = 1) => ({ type: "line", shape: { x1, y1, x2, y2 }, style: { stroke: colour, lineWidth: width } });
  return {
    type: "group",
    children: [
      line(x[0]!, y, x[4]!, y), line(x[0]!, y - half * 0.6, x[0]!, y + half * 0.6), line(x[4]!, y - half * 0.6, x[4]!, y + half * 0.6),
      { type: "rect", shape: { x: x[1]!, y: y - half, width: Math.max(1.5, x[3]! - x[1]!), height: 2 * half }, style: { fill: hollow ? theme.paper : colour, stroke: colour, lineWidth: 1 } },
      { type: "line", shape: { x1: x[2]!, y1: y - half, x2: x[2]!, y2: y + half }, style: { stroke: hollow ? colour : theme.paper, lineWidth: 1.8 } },
      { type: "circle", shape: { cx: x[5]!, cy: y, r: 2 }, style: { fill: colour } },
      { type: "circle", shape: { cx: x[6]!, cy: y, r: 2.4 }, style: { fill: theme.paper, stroke: colour, lineWidth: 1 } },
    ],
  };
}

function drawBoxes(run: RunView, theme: Theme, width: number): { option: Option; height: number } {
  const rows = rowsOf(run, theme);
  const values = rows.flatMap(({ idle, loaded }) => [idle, loaded]).flatMap((f) => (f ? [f.p5, f.max] : []));
  const place = { left: 150, top: 12, width: width - 166, height: rows.length * 34 };
  const option = {
    grid: place,
    xAxis: { ...logAxis(0, Math.min(...values.filter((v) => v > 0)), Math.max(...values), theme), name: "ms", nameLocation: "middle", nameGap: 24 },
    yAxis: { ...axisStyle(theme), type: "category", inverse: true, data: rows.map(({ name }) => name), splitLine: { show: false }, axisTick: { show: false }, axisLabel: { color: theme.ink, fontSize: 12, fontFamily: FONT } },
    tooltip: tooltip(theme, "item", ({ value, seriesName }: { value: number[]; seriesName: string }) =>
      tip(`${rows[value[0]!]?.name}, ${seriesName}`, ["5 %", "25 %", "median", "75 %", "95 %", "99 %", "maximum"].map((name, i) => ({ name, value: ms(value[i + 1]) })))),
    series: [boxSeries(rows, "idle", theme), boxSeries(rows, "loaded", theme)],
  };
  return { option: option as unknown as Option, height: place.height + 58 };
}

function suffering(worst: { name: string; ratio: number }, ratios: number[]): string {
  if (worst.ratio <= 1.2) return "No stream is slower under load than idle by a fifth or more";
  const least = Math.min(...ratios);
  if (ratios.length > 1 && worst.ratio < 1.25 * least) return `All streams suffer alike: their medians are about ${((least + worst.ratio) / 2).toFixed(1)} times the idle ones`;
  return `${worst.name} suffers most: its median is ${worst.ratio.toFixed(1)} times the idle one`;
}

export function boxes(run: RunView): Spec | null {
  const rows = rowsOf(run, {} as Theme);
  if (!rows.length) return null;
  const grown = rows.flatMap(({ name, idle, loaded }) => (idle && loaded ? [{ name, ratio: loaded.p50 / idle.p50 }] : []));
  const worst = grown.reduce<{ name: string; ratio: number } | null>((a, b) => (a && a.ratio >= b.ratio ? a : b), null);
  return {
    id: "boxes", title: worst ? suffering(worst, grown.map(({ ratio }) => ratio)) : "Every stream's quantiles",
    about: "Hollow: idle. Filled: loaded. Box from 25 % to 75 % with the median, whiskers from 5 % to 95 %, dot at 99 %, ring at the maximum; logarithmic.",
    howTo: [
      "One row is one stream of requests; half of its round trips lie inside the box.",
      "Good is a filled box where the hollow one is.",
      "A wide box is jitter; a ring far to the right is one very long wait.",
    ],
    draw: (theme, width) => drawBoxes(run, theme, width),
    table: () => quantilesByStream(run),
  };
}

function quantilesByStream(run: RunView): Table {
  const rows = run.probes.streams.flatMap((probe) => (["idle", "loaded"] as const).flatMap((phase) => {
    const found = probe[phase];
    const f = found?.ms;
    return found && f ? [[streamOf(run, probe.stream)?.name ?? String(probe.stream), phase, found.sent, found.lost, found.late, ...[f.p5, f.p25, f.p50, f.p75, f.p95, f.p99, f.max].map(digits), digits(found.owd_up_ms?.p50), digits(found.owd_down_ms?.p50)]] : [];
  }));
  return { head: ["stream", "phase", "sent", "lost", "late", "p5, ms", "p25, ms", "p50, ms", "p75, ms", "p95, ms", "p99, ms", "max, ms", "median up, ms", "median down, ms"], rows };
}
