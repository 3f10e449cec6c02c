// Many marks as one path, made anew for the stretch of time that is shown: marks in the same place become one.
import type { Series } from "../chart";
import { lastAt } from "../tip";

export type Numbers = ArrayLike<number>;
export interface Points { t: Numbers; y: Numbers }

/** Where a value of the axes lies in the drawing. */
export interface Place { x: (t: number) => number; y: (v: number) => number; from: number; to: number }

/** The places in `t` of what is shown, with one more on either side. */
export function within(t: Numbers, { from, to }: Place): [number, number] {
  const at = (x: number) => lastAt(t, x, (i) => t[i] ?? 0);
  return [Math.max(0, at(from)), Math.min(t.length - 1, at(to) + 1)];
}

export function markPath({ t, y }: Points, place: Place, shape: (x: number, y: number) => string): string {
  const [first, last] = within(t, place);
  const seen = new Set<string>();
  for (let i = first; i <= last; i++) {
    const at = (t[i] ?? 0);
    if (at >= place.from && at <= place.to) seen.add(shape(Math.round(place.x(at) * 2) / 2, Math.round(place.y(y[i] ?? 0))));
  }
  return [...seen].join("");
}

export const diamond = (x: number, y: number) => `M${x} ${y - 4.5}L${x + 4} ${y}L${x} ${y + 4.5}L${x - 4} ${y}Z`;
export const cross = (x: number, y: number) => `M${x - 3.5} ${y - 3.5}L${x + 3.5} ${y + 3.5}M${x - 3.5} ${y + 3.5}L${x + 3.5} ${y - 3.5}`;

/** One path as a series, which is made anew whenever the axes change. */
export function pathSeries(name: string, colour: string, style: object, make: (place: Place) => string): Series {
  return {
    type: "custom", name, clip: true, silent: true, tooltip: { show: false }, data: [[0, 0]], itemStyle: { color: colour },
    renderItem: (params: any, api: any) => {
      const { x: left, width } = params.coordSys;
      const [[x0, y0], [x1, y1]] = [api.coord([0, 0]), api.coord([1, 1])];
      const place = { x: (t: number) => x0 + t * (x1 - x0), y: (v: number) => y0 + v * (y1 - y0), from: (left - x0) / (x1 - x0), to: (left + width - x0) / (x1 - x0) };
      const pathData = make(place);
      // A path without a box to fit into is drawn where it says.
      return pathData ? { type: "path", shape: { pathData }, style: { fill: "none", stroke: colour, lineWidth: 1, ...style } } : null;
    },
  } as unknown as Series;
}
