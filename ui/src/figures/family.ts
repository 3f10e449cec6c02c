// One quantity of several sets: the share of values up to each, and the share above with both axes logarithmic.
import { axisStyle, FONT, heightOf, legendGrowth, panelTitle, tiles, valueAxis, type Option, type Series } from "../chart";
import type { Family, FamilyCurve } from "../data";
import type { Table } from "../dom";
import type { Spec } from "../figure";
import { bytes, count, digits } from "../format";
import type { Theme } from "../palette";
import { lastAt, tip, tooltip } from "../tip";
import { tailLabel } from "./spread";

/** Values that lie further apart than this are drawn on a logarithmic axis. */
const WIDE = 50;
/** Quantiles that are marked when there are several curves. */
const COMPARED = [0.5, 0.9, 0.99];

export function valued(value: number, unit: string): string {
  if (unit === "B") return bytes(value < 1_000 ? Number(digits(value).replace(/,/g, "")) : value);
  if (unit === "ms" && value >= 1_000) return `${digits(value / 1_000)} s`;
  if (unit === "ms" && value > 0 && value < 1) return `${digits(value * 1_000)} µs`;
  if (unit) return `${digits(value)} ${unit}`;
  return Number.isInteger(value) ? count(value) : digits(value);
}

/** A tick: as few digits as tell it from the next. */
function tick(value: number, unit: string): string {
  const plain = (number: number, name: string) => `${Number(number.toPrecision(3))}${name && ` ${name}`}`;
  const steps: [number, string][] = unit === "B" ? [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"]] : unit === "ms" ? [[1e3, "s"]] : unit ? [] : [[1e6, "M"], [1e3, "k"]];
  const found = steps.find(([size]) => value >= size);
  if (found) return plain(value / found[0], found[1]);
  return unit === "ms" && value > 0 && value < 1 ? plain(value * 1e3, "µs") : plain(value, unit);
}

const markAt = ({ marks }: FamilyCurve, share: number) => marks.find(([of]) => of === share)?.[1];
const shareWords = (share: number) => `${Number((share * 100).toPrecision(3))} %`;
const power = (value: number, up: boolean) => 10 ** (up ? Math.ceil(Math.log10(value) - 1e-9) : Math.floor(Math.log10(value) + 1e-9));

/** What the axes show: of the shares what lies up to the 99th percentile, of the tail everything. */
function extent({ curves }: Family): { log: boolean; body: [number, number]; tail: [number, number]; least: number } {
  const positive = (curve: FamilyCurve, from: number) => curve.points.find(([value, share]) => value > 0 && share >= from)?.[0];
  const lows = curves.flatMap((curve) => positive(curve, 0.02) ?? []);
  const highs = curves.map((curve) => markAt(curve, 0.99) ?? curve.points.at(-1)?.[0] ?? 1);
  const [low, high] = [Math.min(...lows), Math.max(...highs, ...lows)];
  const all = curves.flatMap(({ points }) => points).filter(([value]) => value > 0);
  const most = Math.max(...all.map(([value]) => value));
  const shares = all.map(([, , above]) => above).filter((above) => above > 0);
  const log = low > 0 && high / low >= WIDE;
  const first = Math.min(...all.map(([value]) => value));
  return {
    log, body: log ? [power(low, false), power(high, true)] : [0, high > 0 ? high * 1.05 : 1],
    tail: [Number.isFinite(first) ? power(first, false) : 0.1, most > 0 ? Math.max(power(most, true), power(first, false) * 10) : 1], least: Math.max(1e-8, power(Math.min(0.1, ...shares), false)),
  };
}

/** A value of all or nothing has a wall: the curve begins at its foot. */
function stepsOf({ points }: FamilyCurve, tail: boolean, log: boolean, [from]: [number, number], least: number): [number, number][] {
  const data = points.flatMap(([value, share, above]): [number, number][] => (tail ? (above > 0 && value > 0 ? [[value, above]] : []) : log && value <= 0 ? [] : [[value, share]]));
  const zero = log || tail ? points.filter(([value]) => value <= 0).at(-1) : undefined;
  const before = zero ? (tail ? zero[2] : zero[1]) : tail ? 1 : 0;
  const first = points.find(([value]) => value > 0)?.[0];
  // To the left of the first value is what the values at zero leave.
  const foot: [number, number][] = (log || tail) && first !== undefined ? [[Math.min(from, first), before]] : points[0] ? [[Math.min(from, points[0][0]), 0]] : [];
  // The last value of a tail has nothing above it, which the axis cannot show: there the curve falls to its foot.
  const last = points.at(-1);
  const end: [number, number][] = tail && last && last[0] > 0 && last[2] <= 0 ? [[last[0], least]] : [];
  return [...foot.filter(([, y]) => !tail || y > 0), ...data, ...end];
}

/** Dots at quantiles; those of a set by itself are named: in the tail where the large ones are, else the median and the last. */
function marksOf(curve: FamilyCurve, panel: number, colour: string, theme: Theme, { unit }: Family, alone: boolean, shown: (value: number) => boolean): Series {
  const tail = panel === 1;
  const wanted = alone ? curve.marks : curve.marks.filter(([share]) => COMPARED.includes(share));
  const data = wanted.filter(([, value]) => shown(value)).map(([share, value], i, all) => ({
    value: [value, tail ? 1 - share : share],
    label: {
      show: alone && (tail ? share > 0.8 : i === 0 || i === all.length - 1), formatter: `${share === 0.5 ? "median" : shareWords(share)}: ${valued(value, unit)}`,
      ...(tail || i === 0 ? { position: "right" } : { position: "bottom", align: "right", distance: 9 }), color: theme.faint, fontSize: 10, fontFamily: FONT,
    },
  }));
  return { type: "scatter", silent: true, xAxisIndex: panel, yAxisIndex: panel, name: curve.name, data, symbol: "circle", symbolSize: 6, itemStyle: { color: colour, borderColor: theme.paper, borderWidth: 1 }, tooltip: { show: false }, emphasis: { disabled: true }, z: 5, labelLayout: { hideOverlap: true } } as unknown as Series;
}

function axisOf(panel: number, log: boolean, [min, max]: [number, number], { label, unit }: Family, theme: Theme): object {
  const style = axisStyle(theme) as { axisLabel: object };
  return { ...style, type: log ? "log" : "value", gridIndex: panel, min, max, ...(log ? { logBase: 10 } : { splitNumber: 5 }), name: label, nameLocation: "middle", nameGap: 26, splitLine: { show: log, lineStyle: { color: theme.grid } },
    axisLabel: { ...style.axisLabel, formatter: (value: number) => tick(value, unit), showMaxLabel: log ? null : false }, axisPointer: { show: true, label: { show: false }, snap: false, type: "line", lineStyle: { color: theme.faint, type: "dashed" } } };
}

function draw(family: Family, names: string[], theme: Theme, width: number): { option: Option; height: number } {
  const order = [theme.blue, theme.vermillion, theme.green, theme.purple, theme.orange, theme.sky, theme.ink];
  const colourOf = (name: string) => order[names.indexOf(name) % order.length]!;
  const alone = family.curves.length === 1;
  const head = names.length > 1 ? 26 + legendGrowth(family.curves.map(({ name }) => name), width) : 0;
  const columns = width > 620 ? 2 : 1;
  const places = tiles(width, 2, columns, 210, { top: 34 + head, gapY: 78, gapX: 78, left: 58 });
  const { log, body, tail, least } = extent(family);
  const series: Series[] = [];
  for (const panel of [0, 1]) {
    for (const [i, curve] of family.curves.entries()) {
      const colour = colourOf(curve.name);
      // What the others are compared with is seen below a curve that lies on it.
      const below = !alone && i === 0 ? { width: 5, opacity: 0.45 } : { width: 1.8 };
      const dash = names.indexOf(curve.name) >= order.length ? { type: [6, 4] } : {};
      series.push({ type: "line", name: curve.name, xAxisIndex: panel, yAxisIndex: panel, data: stepsOf(curve, panel === 1, log, panel ? tail : body, least), showSymbol: false, step: "end", lineStyle: { color: colour, ...below, ...dash }, itemStyle: { color: colour }, emphasis: { disabled: true } } as Series);
    }
    const shown = (value: number) => (panel || log ? value > 0 : value <= body[1]);
    for (const curve of family.curves) series.push(marksOf(curve, panel, colourOf(curve.name), theme, family, alone, shown));
  }
  const label = { color: theme.faint, fontSize: 11, fontFamily: FONT };
  const option = {
    title: [panelTitle("share of values up to", places[0]!, theme), panelTitle("share above (the tail)", places[1]!, theme)],
    ...(names.length > 1 ? { legend: { type: "plain", top: 0, right: 8, itemWidth: 16, itemHeight: 3, itemGap: 14, selectedMode: false, textStyle: { color: theme.ink, fontSize: 12, fontFamily: FONT }, data: family.curves.map(({ name }) => ({ name, icon: "rect", itemStyle: { color: colourOf(name) } })) } } : {}),
    grid: places, xAxis: [axisOf(0, log, body, family, theme), axisOf(1, true, tail, family, theme)],
    yAxis: [
      valueAxis(0, theme, { min: 0, max: 1, interval: 0.25, axisLabel: { ...label, formatter: (v: number) => `${v * 100} %` } }),
      { ...axisStyle(theme), type: "log", gridIndex: 1, min: least, max: 1, axisLabel: { ...label, hideOverlap: true, formatter: tailLabel } },
    ],
    tooltip: tooltip(theme, "axis", (given: { axisValue: number; axisIndex: number }[]) => {
      const [x, panel] = [Number(given[0]?.axisValue ?? 0), given[0]?.axisIndex ?? 0];
      const lines = family.curves.map(({ name, points }) => {
        const point = points[lastAt(points, x, (i) => points[i]![0])];
        return { colour: colourOf(name), name, value: shareWords(point ? point[panel ? 2 : 1] : panel) };
      });
      return tip(`${panel ? "above" : "up to"} ${valued(x, family.unit)}`, lines);
    }),
    series,
  };
  return { option: option as unknown as Option, height: heightOf(places, 48) };
}

function numbers({ curves, unit }: Family): Table {
  const shares = [...new Set(curves.flatMap(({ marks }) => marks.map(([share]) => share)))].sort((a, b) => a - b);
  const row = (curve: FamilyCurve) => [curve.name, count(curve.count), valued(curve.mean, unit), ...shares.map((share) => { const value = markAt(curve, share); return value === undefined ? null : valued(value, unit); })];
  return { head: ["set", "n", "mean", ...shares.map((share) => (share === 0.5 ? "median" : `${shareWords(share)} up to`))], rows: curves.map(row) };
}

/** `names` are those of all sets of the page: a set keeps its colour in all families. */
export function family(one: Family, names: string[]): Spec {
  const alone = one.curves.length === 1;
  const values = alone ? `${count(one.curves[0]!.count)} values.` : "";
  return {
    id: one.id, title: one.title, about: [one.caption, values, alone ? "Marked: the quantiles of the table below." : `Marked: the median, 90 and 99 %. The wide line is ${one.curves[0]?.name}.`].filter(Boolean).join(" "),
    howTo: one.how_to, draw: (theme, width) => draw(one, names, theme, width), table: () => numbers(one),
  };
}
