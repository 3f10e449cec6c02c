// An axis for loss: powers of ten, with a place for none at all below them, since most good runs lose nothing.
import { axisStyle, FONT } from "../chart";
import type { Num } from "../data";
import type { Theme } from "../palette";

export interface LossScale {
  /** Where a share in per cent is drawn. */
  y: (pct: number) => number;
  /** The exponents at the ends of the axis. */
  min: number; max: number;
  /** What is labelled. */
  ticks: number[];
  label: (value: number) => string;
}

/** A scale that has room for `values` in per cent; none of them is drawn as zero but zero. */
export function lossScale(values: Num[]): LossScale {
  const positive = values.filter((v): v is number => v !== null && v > 0 && Number.isFinite(v));
  const low = Math.floor(Math.log10(Math.min(...positive, 1)) + 1e-9);
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...positive, 10 ** low)) - 1e-9));
  const none = low - 1;
  return {
    y: (pct) => (pct > 0 ? Math.max(none, Math.log10(pct)) : none), min: none - 0.3, max: high + 0.15,
    ticks: Array.from({ length: high - none + 1 }, (_, i) => none + i),
    label: (value) => (value === none ? "0" : String(Number((10 ** value).toPrecision(1)))),
  };
}

/** A value axis with labels at these values alone. */
export function namedAxis(i: number, { min, max, ticks, label }: { min: number; max: number; ticks: number[]; label: (value: number) => string }, theme: Theme, colour: string, more: object = {}): object {
  const base = axisStyle(theme) as { axisTick: object; axisLine: object };
  return { ...base, type: "value", gridIndex: i, min, max, axisTick: { ...base.axisTick, customValues: ticks }, axisLine: { ...base.axisLine, onZero: false },
    axisLabel: { color: colour, fontSize: 11, fontFamily: FONT, customValues: ticks, formatter: label, hideOverlap: false }, splitLine: { show: false }, ...more };
}

/** A value axis of such a scale. */
export const lossAxis = (i: number, scale: LossScale, theme: Theme, more: object = {}) => namedAxis(i, scale, theme, theme.faint, more);

/** Fine lines at the powers of ten, which an axis with labels of its own does not have. */
export const lossLines = ({ ticks }: LossScale, theme: Theme, upright = false) => ticks.map((at) => ({ [upright ? "xAxis" : "yAxis"]: at, lineStyle: { color: theme.grid, type: "solid", width: 1 } }));
