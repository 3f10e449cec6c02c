// Distributions of one quantity side by side: shares up to a value on linear axes, from the whole body to its foot, and shares
// above it with both axes logarithmic, where a heavy tail is a straight line.
import { axisStyle, FONT, heightOf, legend, legendGrowth, panelTitle, valueAxis, type Option, type Place, type Series } from "../chart";
import type { Num, Quantity } from "../data";
import { count, digits } from "../format";
import type { Theme } from "../palette";
import type { Spec } from "../figure";
import type { Table } from "../dom";
import { lastAt, tip, tooltip } from "../tip";
import { powers } from "./generic";
import { curve, tailLabel } from "./spread";

/** One of the distributions; of the same name and colour the dashed one is the other mode. */
export interface Member { name: string; colour: (theme: Theme) => string; dash?: boolean; of: Quantity }

export interface Overlay extends Pick<Spec, "id" | "title" | "about" | "howTo"> {
  /** What has the values: `connections`. */
  what: string;
  /** The quantity and its unit, as below an axis: `duration`, `ms`. */
  quantity: string; unit: string;
  /** Where the linear axes end, the widest first. */
  ends: number[];
  /** Where all axes of values begin, where that is not none: then the tail's has powers of 2. */
  from?: number;
  members: Member[];
}

const QUANTILES: [number, string][] = [[0.5, "median"], [0.8, "80 %"], [0.9, "90 %"]];

/** Panels of shares up to a value beside each other, below them the one of the tail. */
function layout(width: number, ends: number, top: number): Place[] {
  const columns = width > 660 ? ends : 1;
  const [left, gapX, gapY, height] = [58, 66, 76, 210];
  const tile = (width - left - 20 - (columns - 1) * gapX) / columns;
  const bodies = Array.from({ length: ends }, (_, i) => ({ left: left + (i % columns) * (tile + gapX), top: top + Math.floor(i / columns) * (height + gapY), width: tile, height }));
  const below = top + Math.ceil(ends / columns) * (height + gapY);
  return [...bodies, { left, top: below, width: width - left - 20, height: 220 }];
}

function quantileLines(panel: number, theme: Theme): Series {
  const data = QUANTILES.map(([yAxis, text]) => ({ yAxis, label: { formatter: text, position: "insideEndTop", color: theme.faint, fontSize: 10, fontFamily: FONT } }));
  return { type: "line", xAxisIndex: panel, yAxisIndex: panel, data: [], silent: true, markLine: { silent: true, symbol: "none", lineStyle: { color: theme.faint, type: "dotted", width: 1 }, data } } as unknown as Series;
}

const named = ({ quantity, unit }: Overlay) => `${quantity}, ${unit}`;
const percent = (v: number) => `${Math.round(v * 100)} %`;

const valuesOf = (members: Member[]) => members.flatMap(({ of }) => of.curve.v.filter((v) => v > 0));

/** Powers of ten around all values that a logarithmic axis has. */
function decades(members: Member[]): [number, number] {
  const all = valuesOf(members);
  const highest = Math.max(...all, 1e-3);
  // Values six decades below the median of the smallest are drawn at the edge by nobody: they are the foot of the left panels.
  const lowest = Math.max(Math.min(...all), highest * 1e-7);
  return [10 ** Math.floor(Math.log10(lowest)), 10 ** Math.ceil(Math.log10(highest))];
}

/** Of a curve what the tail shows: to the left of its first value above 0 all but the values at 0 lie above. */
function aboveZero({ v, p }: Quantity["curve"], low: number): Quantity["curve"] {
  const zeros = lastAt(v, 0, (i) => v[i] ?? 0) + 1;
  return { v: [low, ...v.slice(zeros)], p: [zeros ? p[zeros - 1] ?? 0 : 0, ...p.slice(zeros)] };
}

const power = (value: number) => (value >= 1e5 || value < 1e-3 ? `10${[...String(Math.round(Math.log10(value)))].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)] ?? "⁻").join("")}` : String(Number(value.toPrecision(2))));

function draw(overlay: Overlay, theme: Theme, width: number): { option: Option; height: number } {
  const { members, ends, what } = overlay;
  const entries = members.map(({ name, colour, dash }) => ({ name, colour: colour(theme), ...(dash ? { dash } : {}) }));
  const places = layout(width, ends.length, 58 + legendGrowth(entries.map(({ name }) => name), width));
  const tail = ends.length;
  const style = (dash?: boolean) => ({ width: 1.8, ...(dash ? { type: [5, 3] } : {}) });
  const [low, high] = decades(members);
  const series = places.flatMap((_, panel) => [
    ...(panel < tail ? [quantileLines(panel, theme)] : []),
    ...members.map(({ name, colour, dash, of }) => curve(panel, name, panel < tail ? { v: [of.curve.v[0] ?? 0, ...of.curve.v], p: [0, ...of.curve.p] } : aboveZero(of.curve, low), panel === tail, style(dash), colour(theme))),
  ]);
  const pointer = { axisPointer: { show: true, type: "line", label: { show: false }, snap: false, lineStyle: { color: theme.faint, type: "dashed" } } };
  const label = { color: theme.faint, fontSize: 11, fontFamily: FONT, hideOverlap: true };
  const below = { name: named(overlay), nameLocation: "middle", nameGap: 26, ...pointer };
  const least = Math.min(0.1, ...members.map(({ of }) => 1 / Math.max(2, of.n)));
  const option = {
    title: places.map((place, i) => panelTitle(i < tail ? `Share of ${what} up to` : `Share of ${what} above (the tail)`, place, theme)),
    legend: legend(theme, entries), grid: places,
    xAxis: places.map((_, i) => (i < tail ? { ...axisStyle(theme), type: "value", gridIndex: i, min: overlay.from ?? 0, max: ends[i], splitNumber: 5, ...below } : { ...axisStyle(theme), type: "log", gridIndex: i, min: low, max: high, ...(overlay.from ? powers(valuesOf(members)) : {}), ...below, axisLabel: { ...label, formatter: power } })),
    yAxis: places.map((_, i) => (i < tail ? valueAxis(i, theme, { min: 0, max: 1, interval: 0.25, axisLabel: { ...label, formatter: percent } }) : { ...axisStyle(theme), type: "log", gridIndex: i, min: 10 ** Math.floor(Math.log10(least)), max: 1, axisLabel: { ...label, formatter: tailLabel } })),
    tooltip: tooltip(theme, "axis", (given: { axisValue: number; axisIndex: number }[]) => {
      const [x, panel] = [Number(given[0]?.axisValue ?? 0), given[0]?.axisIndex ?? 0];
      const lines = members.map(({ name, colour, of }) => {
        const i = lastAt(of.curve.v, x, (k) => of.curve.v[k] ?? 0);
        const share = i < 0 ? 0 : of.curve.p[i] ?? 1;
        return { colour: colour(theme), name, value: `${Number(((panel < tail ? share : 1 - share) * 100).toPrecision(3))} %` };
      });
      return tip(`${panel < tail ? "up to" : "above"} ${digits(x)} ${overlay.unit}`, lines);
    }),
    series,
  };
  return { option: option as unknown as Option, height: heightOf(places, 48) };
}

function numbers({ members, unit }: Overlay): Table {
  const figures: [string, (of: Quantity) => Num][] = [["min", ({ min }) => min], ["mean", ({ mean }) => mean], ["median", ({ p50 }) => p50], ["80 %", ({ p80 }) => p80], ["90 %", ({ p90 }) => p90], ["95 %", ({ p95 }) => p95], ["99 %", ({ p99 }) => p99], ["max", ({ max }) => max]];
  return { head: ["of", "n", ...figures.map(([name]) => `${name}, ${unit}`)], rows: members.map(({ name, of }) => [name, count(of.n), ...figures.map(([, figure]) => digits(figure(of)))]) };
}

export function overlay(given: Overlay): Spec | null {
  const members = given.members.filter(({ of }) => of.n > 0);
  if (!members.length) return null;
  const overlay = { ...given, members };
  const { id, title, about, howTo } = overlay;
  return { id, title, about, howTo, draw: (theme, width) => draw(overlay, theme, width), table: () => numbers(overlay) };
}

/** The share of a quantity that is at most `x`. */
export function upTo(of: Quantity, x: number): number {
  const i = lastAt(of.curve.v, x, (k) => of.curve.v[k] ?? 0);
  return i < 0 ? 0 : of.curve.p[i] ?? 1;
}
