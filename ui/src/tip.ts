// What hovering shows: a heading, and a line with a value and its unit for each series that has one there.
import { escape } from "./dom";
import { FONT } from "./chart";
import type { Theme } from "./palette";

export interface TipLine { colour?: string; name: string; value: string }

export function tip(heading: string, lines: TipLine[]): string {
  const line = ({ colour, name, value }: TipLine) =>
    `<div class="row"><span class="name">${colour ? `<i style="background:${escape(colour)}"></i>` : ""}${escape(name)}</span> <b>${escape(value)}</b></div>`;
  return `<div class="tip"><div class="head">${escape(heading)}</div>${lines.map(line).join("")}</div>`;
}

export function tooltip(theme: Theme, trigger: "axis" | "item", formatter: (given: any) => string): object {
  return {
    trigger, confine: true, appendTo: undefined, transitionDuration: 0, padding: [6, 10], backgroundColor: theme.paper, borderColor: theme.grid,
    textStyle: { color: theme.ink, fontSize: 12, fontFamily: FONT }, formatter,
    axisPointer: { type: "line", snap: false, lineStyle: { color: theme.faint, type: "dashed" }, label: { show: false } },
  };
}

type Point = [number, number | null];
interface Drawn { xAxisIndex?: number; data?: Point[]; itemStyle?: { color?: string } }

/** The last index whose place is at or before `x`; -1 when there is none. */
export function lastAt(data: ArrayLike<unknown>, x: number, place: (i: number) => number): number {
  let [low, high] = [0, data.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (place(middle) <= x) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The value of a line at `t`, or at its nearest point if that is not far; null in a gap. */
function near(data: Point[], t: number, far: number): number | null {
  const i = lastAt(data, t, (i) => data[i]?.[0] ?? 0);
  const [before, after] = [data[i], data[i + 1]];
  const nearest = !before || (after && after[0] - t < t - before[0]) ? after : before;
  return nearest && Math.abs(nearest[0] - t) <= far ? nearest[1] : null;
}

/**
 * For panels over time: the value of each series at the instant, or nearest to it. ECharts itself would name only the
 * series that has the nearest point.
 */
export function timeTip(theme: Theme, unitOf: (seriesName: string, seriesIndex: number) => { name: string; text: (value: number) => string } | null, series: unknown[], lastFirst = false): object {
  const drawn = series as Drawn[];
  // What is drawn last lies on top, and of stacked areas at the top.
  const panels = [...new Set(drawn.map(({ xAxisIndex }) => xAxisIndex))];
  const order = panels.flatMap((panel) => {
    const inPanel = drawn.map((_, i) => i).filter((i) => drawn[i]?.xAxisIndex === panel);
    return lastFirst ? inPanel.reverse() : inPanel;
  });
  const end = Math.max(0, ...drawn.map(({ data }) => data?.at(-1)?.[0] ?? 0));
  return tooltip(theme, "axis", (given: { axisValue: number }[]) => {
    const t = Number(given[0]?.axisValue ?? 0);
    const lines = order.flatMap((i) => {
      const { data, itemStyle } = drawn[i] ?? {};
      const how = unitOf("", i);
      const y = how && data ? near(data, t, Math.max(0.6, end / 100)) : null;
      return how && y !== null ? [{ colour: itemStyle?.color ?? theme.ink, name: how.name, value: how.text(y) }] : [];
    });
    return tip(`${t.toFixed(2)} s`, lines);
  });
}
