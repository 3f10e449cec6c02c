// The parts of ECharts that are used, so that the others are not in the page.
import { BarChart, CustomChart, HeatmapChart, LineChart, PictorialBarChart, ScatterChart } from "echarts/charts";
import { DataZoomInsideComponent, GridComponent, LegendComponent, MarkAreaComponent, MarkLineComponent, TitleComponent, ToolboxComponent, TooltipComponent, VisualMapContinuousComponent, AxisPointerComponent } from "echarts/components";
import * as echarts from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import type { EChartsOption, SeriesOption } from "echarts";
import type { Phases } from "./data";
import type { Theme } from "./palette";

echarts.use([BarChart, CustomChart, HeatmapChart, LineChart, PictorialBarChart, ScatterChart, DataZoomInsideComponent, GridComponent, LegendComponent, MarkAreaComponent, MarkLineComponent, TitleComponent, ToolboxComponent, TooltipComponent, VisualMapContinuousComponent, AxisPointerComponent, SVGRenderer]);

export { echarts };
export type Option = EChartsOption;
export type Series = SeriesOption;

export const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";

/** Where a panel lies within a figure, in pixels. */
export interface Place { left: number; top: number; width: number; height: number }

/** Places for `rows` panels under each other. */
export function stack(width: number, heights: number[], gap = 46, left = 58, top = 34): Place[] {
  let y = top;
  return heights.map((height) => {
    const place = { left, top: y, width: Math.max(120, width - left - 16), height };
    y += height + gap;
    return place;
  });
}

/** Places for `n` panels in rows of `columns`. */
export function tiles(width: number, n: number, columns: number, height: number, { gapX = 48, gapY = 50, left = 52, top = 30 } = {}): Place[] {
  const tile = (width - left - 12 - (columns - 1) * gapX) / columns;
  return Array.from({ length: n }, (_, i) => ({
    left: left + (i % columns) * (tile + gapX), top: top + Math.floor(i / columns) * (height + gapY), width: tile, height,
  }));
}

export const heightOf = (places: Place[], below = 44) => Math.max(...places.map((place) => place.top + place.height)) + below;

/** The words above a panel: what its vertical axis is, with the unit. */
export function panelTitle(text: string, place: Place, theme: Theme, colour?: string): object {
  return { text, left: place.left - 4, top: place.top - 23, padding: 0, textStyle: { width: place.width + 12, overflow: "truncate", fontSize: 12, fontWeight: 600, color: colour ?? theme.ink, fontFamily: FONT } };
}

export function axisStyle(theme: Theme): object {
  return {
    axisLine: { show: true, lineStyle: { color: theme.faint } },
    axisTick: { show: true, lineStyle: { color: theme.faint } },
    axisLabel: { color: theme.faint, fontSize: 11, fontFamily: FONT, hideOverlap: true },
    nameTextStyle: { color: theme.faint, fontSize: 11, fontFamily: FONT },
    splitLine: { show: true, lineStyle: { color: theme.grid } },
    minorTick: { show: false },
  };
}

/** Of panels that stand under each other and share their time only the last one is labelled (`name`). */
export function timeAxis(i: number, end: number, theme: Theme, name: boolean, labels = name): object {
  return {
    ...axisStyle(theme), axisLabel: { show: labels, color: theme.faint, fontSize: 11, fontFamily: FONT, hideOverlap: true }, type: "value", gridIndex: i, min: 0, max: Math.ceil(end), splitLine: { show: false },
    name: name ? "time since the run's start, s" : "", nameLocation: "middle", nameGap: 26, scale: true,
    axisPointer: { show: true, type: "line", snap: false, lineStyle: { color: theme.faint, type: "dashed" }, label: { show: false } },
  };
}

/** Of one transfer: it ends where the transfer does. */
export function transferAxis(i: number, end: number, theme: Theme, name: boolean): object {
  const made = timeAxis(i, end, theme, name) as { axisLabel: object };
  return { ...made, max: end, name: name ? "time since the transfer's start, s" : "", axisLabel: { ...made.axisLabel, showMaxLabel: false } };
}

export function valueAxis(i: number, theme: Theme, more: object = {}): object {
  return { ...axisStyle(theme), type: "value", gridIndex: i, splitNumber: 3, ...more };
}

/** A logarithmic axis of base 2, from below `low` to above `high`: 16, 32, 64 are closer together than 10, 100, 1000. */
export function logAxis(i: number, low: number, high: number, theme: Theme, more: object = {}): object {
  const power = (value: number, up: boolean) => 2 ** (up ? Math.ceil(Math.log2(value)) : Math.floor(Math.log2(value)));
  const label = (value: number) => (value >= 1 ? String(Math.round(value)) : String(Number(value.toPrecision(2))));
  return { ...axisStyle(theme), type: "log", logBase: 2, gridIndex: i, min: power(Math.max(low, 1e-3), false), max: power(Math.max(high, 2e-3), true), ...more,
    axisLabel: { color: theme.faint, fontSize: 11, fontFamily: FONT, hideOverlap: true, formatter: label } };
}

/** Idle and loaded shaded, discarded hatched, as a series of its own that is drawn first. */
export function shades(i: number, phases: Phases, theme: Theme, labels: boolean): Series {
  const area = (span: [number, number], name: string, colour: unknown) => [
    { xAxis: span[0], itemStyle: { color: colour, opacity: 1 }, label: { show: labels && name !== "", formatter: name, position: "insideTop", color: theme.faint, fontSize: 10, fontFamily: FONT } },
    { xAxis: span[1] },
  ];
  const data: unknown[] = [];
  if (phases.idle) data.push(area(phases.idle, "idle", theme.idle));
  if (phases.web_idle) data.push(area(phases.web_idle, "idle, web pages", theme.idle));
  if (phases.loaded) data.push(area(phases.loaded, "loaded", theme.loaded));
  for (const span of phases.discarded) data.push(area(span, "", hatching(theme)));
  return { type: "line", xAxisIndex: i, yAxisIndex: i, data: [], silent: true, tooltip: { show: false }, markArea: { silent: true, data } } as unknown as Series;
}

function hatching(theme: Theme): object {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><path d="M-1 9L9 -1M-1 1L1 -1M7 9L9 7" stroke="${theme.hatch}" stroke-width="1" stroke-opacity="0.55"/></svg>`;
  return { image: `data:image/svg+xml,${encodeURIComponent(svg)}`, imageWidth: 8, imageHeight: 8, repeat: "repeat" };
}

/** How many pixels a legend needs beyond its first row. */
export function legendGrowth(names: string[], width: number): number {
  let [rows, x] = [1, 0];
  for (const name of names) {
    const entry = name.length * 6.6 + 40;
    if (x > 0 && x + entry > width - 16) [rows, x] = [rows + 1, 0];
    x += entry;
  }
  return (rows - 1) * 22;
}

export function legend(theme: Theme, entries: { name: string; colour: string; dash?: boolean }[], top = 0): object {
  return {
    top, right: 8, itemWidth: 16, itemHeight: 3, itemGap: 14, selectedMode: false, textStyle: { color: theme.ink, fontSize: 12, fontFamily: FONT },
    data: entries.map(({ name, colour, dash }) => ({ name, icon: dash ? "path://M0 0h5v3H0zM8 0h5v3H8z" : "rect", itemStyle: { color: colour, opacity: 1, borderWidth: 0 }, lineStyle: { width: 0 } })),
  };
}
