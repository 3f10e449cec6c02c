// A figure that says itself what is on its axes: those of experiments.
import { axisStyle, FONT, heightOf, legendGrowth, panelTitle, stack, type Option, type Series } from "../chart";
import type { Axis, ExperimentFigure, ExperimentSeries, Num } from "../data";
import { digits } from "../format";
import type { Theme } from "../palette";
import type { Spec } from "../figure";
import type { Table } from "../dom";
import { lastAt, tip, tooltip, type TipLine } from "../tip";

const valued = (value: Num, { unit }: Axis) => (value === null ? "–" : `${digits(value)}${unit ? ` ${unit}` : ""}`);
const named = ({ label, unit }: Axis) => `${label}${unit ? `, ${unit}` : ""}`;

/** A name has the same colour in all sources: paper and ours differ by line and symbol. */
function colours(figure: ExperimentFigure, theme: Theme): string[] {
  const order = [theme.blue, theme.vermillion, theme.green, theme.purple, theme.orange, theme.sky, theme.ink];
  const ours = figure.series.filter(({ source }) => source !== "paper");
  const names = [...new Set([...ours, ...figure.series].map(({ name }) => name))];
  return figure.series.map(({ name }) => order[names.indexOf(name) % order.length]!);
}

export const title = ({ name, variant, source }: ExperimentSeries) => `${name}${variant ? `, ${variant}` : ""}${source === "paper" && !/paper/i.test(name) ? " (paper)" : ""}`;

/** Variants of one name share its colour: the figure's first is solid, the second dashed, others dotted. */
function dashOf(figure: ExperimentFigure, { variant }: ExperimentSeries): number[] | "solid" {
  const place = [...new Set(figure.series.map((one) => one.variant))].indexOf(variant);
  return place < 1 ? "solid" : place === 1 ? [5, 3] : [1.5, 3];
}

/** Powers of 2 around values within two decades, else of 10: so that there are ticks, and little is empty. */
export function powers(values: number[]): object {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (!(low > 0) || !Number.isFinite(high)) return { type: "log" };
  const base = high / low < 100 ? 2 : 10;
  const power = (value: number, round: (v: number) => number) => base ** round(Math.log(value) / Math.log(base));
  return { type: "log", logBase: base, min: power(low, (v) => Math.floor(v + 1e-9)), max: power(high * 1.0001, (v) => Math.ceil(v - 1e-3)) };
}

/** Pixels of a category's name, beside others and above or below them. */
const [NAME, LONG_NAME] = [92, 176];
/** Pixels from one category to the next below it. */
const ROW = 28;

/** Whether categories lie below each other, because beside each other there is no room for their names. */
function isSideways({ x: { categories } }: ExperimentFigure, width: number): boolean {
  const longest = Math.max(0, ...categories.map((name) => name.length));
  return categories.length * Math.min(NAME, longest * 6.6 + 8) > width - 82;
}
const turned = ([x, y]: [number, Num]): [Num, Num] => [y, x];

function axis(axis: Axis, values: number[], theme: Theme, horizontal: boolean): object {
  const label = { ...(axisStyle(theme) as any).axisLabel };
  const more = horizontal ? { name: named(axis), nameLocation: "middle", nameGap: 28, axisPointer: { show: true, type: "line", snap: false, lineStyle: { color: theme.faint, type: "dashed" }, label: { show: false } } } : {};
  if (axis.categories.length) return { ...axisStyle(theme), ...more, type: "category", data: axis.categories, splitLine: { show: false }, axisLabel: { ...label, color: theme.ink, interval: 0, hideOverlap: false, overflow: "break", width: horizontal ? NAME : LONG_NAME, lineHeight: 13 } };
  const short = (value: number) => (Math.abs(value) >= 1e5 || (value !== 0 && Math.abs(value) < 1e-3) ? value.toExponential(0).replace("e+", "e") : String(Number(value.toPrecision(4))));
  const ends = { ...(axis.min === null ? {} : { min: axis.min }), ...(axis.max === null ? {} : { max: axis.max }) };
  return { ...axisStyle(theme), ...more, ...(axis.log ? powers(values.filter((v) => v > 0)) : { type: "value" }), scale: true, ...ends, splitNumber: 5, axisLabel: { ...label, formatter: short }, ...(horizontal ? { splitLine: { show: axis.log, lineStyle: { color: theme.grid } } } : {}) };
}

const drawable = ({ x, y }: ExperimentFigure, [at, value]: [number, Num]) => !(x.log && at <= 0) && !(y.log && value !== null && value <= 0);

const CROSS = "path://M0 0L10 10M10 0L0 10";

/** A stacked series with all that lie below it: each is drawn down to zero, and what lies below is drawn over it. */
function totals(figure: ExperimentFigure, last: number): [number, Num][] {
  const below = figure.series.slice(0, last + 1).filter(({ kind }) => kind === "stacked");
  return figure.series[last]!.points.map(([x], at) => [x, below.reduce((sum, { points }) => sum + (points[at]?.[1] ?? 0), 0)]);
}

function seriesOf(figure: ExperimentFigure, one: ExperimentSeries, i: number, colour: string, theme: Theme, sideways: boolean): Series[] {
  const hollow = one.source === "paper";
  const data = one.points.filter((point) => drawable(figure, point)).map((point) => ({ value: sideways ? turned(point) : point, series: i }));
  const shared = { name: title(one), data, itemStyle: { color: hollow ? theme.paper : colour, borderColor: colour, borderWidth: hollow ? 1.6 : 0 }, emphasis: { disabled: true } };
  const symbol = { symbol: hollow ? "diamond" : "circle", symbolSize: hollow ? 9 : data.length > 300 ? 4 : one.intervals.length ? 5 : 6.5 };
  const joined = { type: "line", ...shared, ...symbol, showSymbol: data.length < 60, connectNulls: false, ...(data.length > 4_000 ? { sampling: "minmax" } : {}), lineStyle: { color: colour, width: hollow ? 1.8 : 2, type: hollow ? [6, 4] : dashOf(figure, one) } };
  const whiskers = intervals(one, colour, sideways);
  if (one.kind === "line") return [joined as Series, ...whiskers];
  if (one.kind === "step") return [{ ...joined, step: "end", showSymbol: data.length < 12 } as Series, ...whiskers];
  if (one.kind === "stacked") return [{ ...joined, data: totals(figure, i).map((value) => ({ value, series: i })), step: "end", showSymbol: false, lineStyle: { width: 0 }, areaStyle: { color: colour, opacity: 1 } } as Series];
  if (one.kind === "crosses") return [{ type: "scatter", ...shared, itemStyle: { color: "none", borderColor: colour, borderWidth: 1.6 }, symbol: CROSS, symbolSize: 8 } as unknown as Series, ...whiskers];
  if (one.kind === "points") return [{ type: "scatter", ...shared, ...symbol, large: data.length > 3_000 } as unknown as Series, ...whiskers];
  return [{ type: "bar", ...shared, barMaxWidth: 34, itemStyle: { color: hollow ? theme.paper : colour, borderColor: colour, borderWidth: 1.4, ...(hollow ? { borderType: "dashed" } : {}) } } as Series, ...whiskers];
}

/** A whisker over each point's interval. Of bars that stand beside each other it is the interval alone that can be read. */
function intervals(one: ExperimentSeries, colour: string, sideways: boolean): Series[] {
  const data = one.points.flatMap(([x], i) => (one.intervals[i] ? [[x, one.intervals[i]![0], one.intervals[i]![1]]] : []));
  if (!data.length || one.kind === "bars") return [];
  return [{
    type: "custom", name: `${title(one)}, interval`, silent: true, data, encode: sideways ? { y: 0, x: [1, 2] } : { x: 0, y: [1, 2] }, itemStyle: { color: colour }, tooltip: { show: false },
    renderItem: (_: unknown, api: any) => {
      const at = (value: number): [number, number] => (sideways ? api.coord([value, api.value(0)]).reverse() : api.coord([api.value(0), value]));
      const [[x, low], [, high]] = [at(api.value(1)), at(api.value(2))];
      const shape = (x1: number, y1: number, x2: number, y2: number) => (sideways ? { x1: y1, y1: x1, x2: y2, y2: x2 } : { x1, y1, x2, y2 });
      const line = (...ends: [number, number, number, number]) => ({ type: "line", shape: shape(...ends), style: { stroke: colour, lineWidth: 1.2 } });
      return { type: "group", children: [line(x, low, x, high), line(x - 4, low, x + 4, low), line(x - 4, high, x + 4, high)] };
    },
  } as unknown as Series];
}

/** The point of a series that stands for `x`: of steps the last before it, else the nearest that is not far. */
function pointAt(one: ExperimentSeries, x: number, far: (a: number, b: number) => boolean): number | null {
  const before = lastAt(one.points, x, (i) => one.points[i]?.[0] ?? 0);
  if (one.kind === "step") return before >= 0 ? before : null;
  const [left, right] = [one.points[before]?.[0] ?? -Infinity, one.points[before + 1]?.[0] ?? Infinity];
  const i = right - x < x - left ? before + 1 : before;
  const found = one.points[i];
  return found && !far(found[0], x) ? i : null;
}

function lineAt(figure: ExperimentFigure, i: number, k: number, colour: string): TipLine {
  const one = figure.series[i]!;
  const between = one.intervals[k];
  const x = figure.x.categories.length || one.kind === "step" ? "" : ` at ${valued(one.points[k]![0], figure.x)}`;
  return { colour, name: `${title(one)}${x}`, value: `${valued(one.points[k]![1], figure.y)}${between ? ` (${digits(between[0])} to ${digits(between[1])})` : ""}` };
}

function draw(figure: ExperimentFigure, theme: Theme, width: number): { option: Option; height: number } {
  const names = [...new Set(figure.series.map(title))];
  const all = figure.series.flatMap(({ points }) => points);
  const sideways = isSideways(figure, width);
  const height = sideways ? figure.x.categories.length * Math.max(ROW, 14 * figure.series.filter(({ kind }) => kind === "bars").length) : Math.min(360, Math.max(240, width * 0.4));
  const [place] = stack(width, [height], 0, sideways ? LONG_NAME + 16 : 66, 62 + legendGrowth(names, width));
  const paint = colours(figure, theme);
  const made = figure.series.map((one, i) => seriesOf(figure, one, i, paint[i]!, theme, sideways));
  const along = axis(figure.x, all.map(([x]) => x), theme, !sideways);
  const values = axis(figure.y, all.flatMap(([, y]) => y ?? []), theme, sideways);
  const xs = figure.series.flatMap(({ points }) => [points[0]?.[0] ?? 0, points.at(-1)?.[0] ?? 0]);
  const [low, high] = [Math.min(...xs), Math.max(...xs)];
  const far = (a: number, b: number) => (figure.x.log ? Math.abs(Math.log(a / b)) > Math.log(high / Math.max(low, 1e-12)) * 0.06 : Math.abs(a - b) > Math.max(1e-12, high - low) * 0.06);
  const cloud = figure.series.every(({ kind }) => kind === "points" || kind === "crosses");
  const heading = (x: number) => (figure.x.categories.length ? figure.x.categories[x] ?? "" : `${figure.x.label} ${valued(x, figure.x)}`);
  const option = {
    title: [panelTitle(named(sideways ? figure.x : figure.y), place!, theme)], grid: [place],
    legend: { type: "plain", top: 0, right: 8, itemWidth: 22, itemHeight: 9, itemGap: 14, selectedMode: false, textStyle: { color: theme.ink, fontSize: 12, fontFamily: FONT }, data: names },
    xAxis: [sideways ? { ...values, splitLine: { show: true, lineStyle: { color: theme.grid } }, axisPointer: { show: false } } : along], yAxis: [sideways ? { ...along, inverse: true } : values],
    tooltip: cloud ? tooltip(theme, "item", ({ value, data }: { value: [number, Num]; data: { series: number } }) => tip(heading((sideways ? value[1] : value[0]) ?? 0), [{ colour: paint[data.series], name: title(figure.series[data.series]!), value: valued(sideways ? value[0] : value[1], figure.y) }]))
      : tooltip(theme, "axis", (given: { axisValue: number | string; dataIndex: number }[]) => {
        const name = given[0]?.axisValue;
        const x = typeof name === "string" && figure.x.categories.length ? figure.x.categories.indexOf(name) : Number(name ?? 0);
        const lines = figure.series.flatMap((one, i) => {
          const k = pointAt(one, x, figure.x.categories.length ? (a, b) => a !== b : far);
          return k === null ? [] : [lineAt(figure, i, k, paint[i]!)];
        });
        return tip(heading(x), lines);
      }),
    series: [...made.filter((_, i) => figure.series[i]!.kind === "stacked").reverse(), ...made.filter((_, i) => figure.series[i]!.kind !== "stacked")].flat(),
  };
  return { option: option as unknown as Option, height: heightOf([place!], figure.x.categories.length && !sideways ? 64 : 50) };
}

function numbers(figure: ExperimentFigure): Table {
  const place = (x: number) => (figure.x.categories.length ? figure.x.categories[x] ?? "" : digits(x));
  const rows = figure.series.flatMap((one) => one.points.slice(0, 2_000).map(([x, y], i) => [title(one), place(x), y === null ? "" : digits(y), one.intervals[i] ? `${digits(one.intervals[i]![0])} to ${digits(one.intervals[i]![1])}` : ""]));
  return { head: ["series", named(figure.x), named(figure.y), "interval"], rows };
}

export function generic(figure: ExperimentFigure): Spec {
  const papers = figure.series.some(({ source }) => source === "paper");
  return {
    id: figure.id, title: figure.title, about: [figure.caption, papers ? "Hollow and dashed: the paper's." : ""].filter(Boolean).join(" "),
    howTo: figure.how_to, zoom: !figure.x.categories.length, draw: (theme, width) => draw(figure, theme, width), table: () => numbers(figure),
  };
}
