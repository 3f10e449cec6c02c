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

/** For panels over time: the value of each series at the instant, or nearest to it. */
export function timeTip(theme: Theme, unitOf: (seriesName: string, seriesIndex: number) => { name: string; text: (value: number) => string } | null): object {
  return tooltip(theme, "axis", (given: { axisValue: number; seriesName: string; seriesIndex: number; color: string; value: (number | null)[] }[]) => {
    const first = given[0];
    if (!first) return "";
    const lines = given.flatMap(({ seriesName, seriesIndex, color, value }) => {
      const how = unitOf(seriesName, seriesIndex);
      const y = value?.[1];
      return how && y !== null && y !== undefined ? [{ colour: color, name: how.name, value: how.text(y) }] : [];
    });
    return tip(`${Number(first.axisValue).toFixed(2)} s`, lines);
  });
}
