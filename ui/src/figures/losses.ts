// An axis for loss: powers of ten, with a place for none at all below them, since most good runs lose nothing.
import { axisStyle, FONT } from "../chart";
import type { Num } from "../data";
import type { Theme } from "../palette";

export interface LossScale {
  /** Where a share in per cent is drawn. */
  y: (pct: number) => number;
  /** The exponents at the ends of the axis. */
  min: number; max: number;
  label: (value: number) => string;
}

/** A scale that has room for `values` in per cent; none of them is drawn as zero but zero. */
export function lossScale(values: Num[]): LossScale {
  const positive = values.filter((v): v is number => v !== null && v > 0 && Number.isFinite(v));
  const low = Math.floor(Math.log10(Math.min(...positive, 1)) + 1e-9);
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...positive, 10 ** low)) - 1e-9));
  const none = low - 1;
  const label = (value: number) => {
    const power = Math.round(value);
    if (Math.abs(value - power) > 1e-6 || power < none || power > high) return "";
    return power === none ? "0" : String(Number((10 ** power).toPrecision(1)));
  };
  return { y: (pct) => (pct > 0 ? Math.max(none, Math.log10(pct)) : none), min: none - 0.3, max: high + 0.15, label };
}

/** A value axis of such a scale. */
export function lossAxis(i: number, { min, max, label }: LossScale, theme: Theme, more: object = {}): object {
  return { ...axisStyle(theme), type: "value", gridIndex: i, min, max, interval: 1, axisLabel: { color: theme.faint, fontSize: 11, fontFamily: FONT, formatter: label }, ...more };
}
