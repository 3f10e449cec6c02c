// The scanned window: what a growing window gets, how long its packets take, and what is lost (RFC 8337 section 8.2).
import { axisStyle, FONT, heightOf, legend, panelTitle, stack, valueAxis, type Option, type Place, type Series } from "../chart";
import type { MbmScan, MbmTest, Num, RunView } from "../data";
import type { Table } from "../dom";
import type { Spec } from "../figure";
import { count, digits, mbps, ms } from "../format";
import type { Theme } from "../palette";
import { lastAt, tip, tooltip, type TipLine } from "../tip";
import { choiceName, having, plural } from "./verdicts";

interface Shown { test: MbmTest; shown: MbmScan }

const points = ({ window }: MbmScan, values: Num[]) => window.map((w, i) => [w, values[i] ?? null]);
const highest = (values: Num[]) => Math.max(0, ...values.map((v) => v ?? 0));

/** Upright lines where the queue begins, and at the first loss; named in the first panel. */
function marks(i: number, { onset, first_mark, window }: MbmScan, theme: Theme): object {
  const share = (at: number) => (at - (window[0] ?? 0)) / Math.max(1, (window.at(-1) ?? 1) - (window[0] ?? 0));
  const line = (xAxis: number, name: string, colour: string, align: string) => ({ xAxis, lineStyle: { color: colour }, label: { show: i === 0, formatter: name, position: "end", align, color: colour, fontSize: 11, fontFamily: FONT, distance: 4, padding: [0, 4] } });
  // Each name on the side of its line where there is room.
  const begins = first_mark && onset && share(first_mark.window) - share(onset.window) < 0.3 ? "right" : "left";
  const data = [
    ...(onset ? [line(onset.window, `queue begins: ${onset.window}`, theme.purple, begins)] : []),
    ...(first_mark ? [line(first_mark.window, `first loss: ${first_mark.window}`, theme.vermillion, share(first_mark.window) > 0.7 && begins === "left" ? "right" : "left")] : []),
  ];
  return { silent: true, symbol: "none", animation: false, lineStyle: { width: 1.4, type: "dashed" }, data };
}

/** A level line with its name on it. */
function level(i: number, y: number, name: string, theme: Theme): Series {
  return { type: "line", xAxisIndex: i, yAxisIndex: i, data: [], silent: true, tooltip: { show: false },
    markLine: { silent: true, symbol: "none", lineStyle: { color: theme.faint, type: "dotted", width: 1.3 }, label: { show: true, formatter: name, position: "insideStartTop", color: theme.faint, fontSize: 11, fontFamily: FONT }, data: [{ yAxis: y }] } } as unknown as Series;
}

function line(i: number, name: string, data: (number | null)[][], colour: string, width: number, more: object = {}): Series {
  return { type: "line", name, xAxisIndex: i, yAxisIndex: i, data, showSymbol: data.length < 30, symbol: "circle", symbolSize: 4, connectNulls: false, lineStyle: { color: colour, width, opacity: width < 1.2 ? 0.7 : 1 }, itemStyle: { color: colour }, emphasis: { disabled: true }, ...more } as Series;
}

/** The standing queue that is allowed, as a round trip; null where it is far above what was seen. */
function allowed(run: RunView, scan: MbmScan): number | null {
  const rtt = run.mbm!.asked.rtt_ms;
  if (rtt === null || scan.rtt_min_ms === null) return null;
  const at = scan.rtt_min_ms + 2 * rtt;
  return at < highest(scan.rtt_max_ms) * 2.2 ? at : null;
}

function bars(i: number, name: string, scan: MbmScan, values: number[], colour: string): Series {
  const foot = name === "marked" ? scan.lost : values.map(() => 0);
  const data = scan.window.map((w, k) => [w, foot[k] ?? 0, (foot[k] ?? 0) + (values[k] ?? 0)]);
  return {
    type: "custom", name, xAxisIndex: i, yAxisIndex: i, silent: true, data, encode: { x: 0, y: [1, 2] }, itemStyle: { color: colour },
    renderItem: (_: unknown, api: any) => {
      const [[x, low], [, high]] = [api.coord([api.value(0), api.value(1)]), api.coord([api.value(0), api.value(2)])];
      return low - high < 0.1 ? null : { type: "rect", shape: { x: x - 2.5, y: high, width: 5, height: low - high }, style: { fill: colour } };
    },
  } as unknown as Series;
}

function panels(run: RunView, scan: MbmScan, theme: Theme): { title: string; height: number; y: object; series: Series[] }[] {
  const target = run.mbm!.asked.link_mbps;
  const known = scan.mbps.some((v) => v !== null);
  const rates = known ? scan.mbps : scan.packets_per_s;
  const limit = allowed(run, scan);
  const top = Math.max(highest(scan.rtt_max_ms), limit ?? 0);
  return [
    { title: known ? "delivered, Mbit/s with headers" : "delivered, packets/s", height: 130, y: { min: 0, max: Math.max(highest(rates), known ? target ?? 0 : 0) * 1.25 || 1, axisLabel: { showMaxLabel: false } }, series: [
      line(0, "delivered", points(scan, rates), theme.blue, 2, { markLine: marks(0, scan, theme) }),
      ...(known && target ? [level(0, target, `target, ${digits(target)}`, theme)] : []),
    ] },
    { title: "round trip, ms", height: 150, y: { min: 0, max: top * 1.15 || 1, axisLabel: { showMaxLabel: false } }, series: [
      line(1, "longest", points(scan, scan.rtt_max_ms), theme.faint, 1), line(1, "mean round trip", points(scan, scan.rtt_ms), theme.orange, 2, { markLine: marks(1, scan, theme) }),
      ...(limit === null ? [] : [level(1, limit, `queue of twice the target's round trip, ${digits(limit)}`, theme)]),
    ] },
    { title: "lost or marked, packets", height: 70, y: { min: 0, minInterval: 1, splitNumber: 2 }, series: [
      { type: "line", xAxisIndex: 2, yAxisIndex: 2, data: [], silent: true, tooltip: { show: false }, markLine: marks(2, scan, theme) } as Series,
      bars(2, "lost", scan, scan.lost, theme.vermillion), bars(2, "marked", scan, scan.ce, theme.purple),
    ] },
  ];
}

function windowAxis(i: number, { window }: MbmScan, theme: Theme, isLast: boolean): object {
  const [low, high] = [window[0] ?? 0, window.at(-1) ?? 1];
  const room = Math.max(1, (high - low) * 0.03);
  return { ...axisStyle(theme), type: "value", gridIndex: i, min: Math.max(0, Math.floor(low - room)), max: Math.ceil(high + room), minInterval: 1, splitLine: { show: false }, name: isLast ? "window, packets" : "", nameLocation: "middle", nameGap: 26,
    axisLabel: { show: isLast, color: theme.faint, fontSize: 11, fontFamily: FONT, hideOverlap: true }, axisPointer: { show: true, type: "line", snap: false, lineStyle: { color: theme.faint, type: "dashed" }, label: { show: false } } };
}

function hover(scan: MbmScan, at: number, theme: Theme): string {
  const before = Math.max(0, lastAt(scan.window, at, (k) => scan.window[k] ?? 0));
  const i = (scan.window[before + 1] ?? Infinity) - at < at - (scan.window[before] ?? 0) ? before + 1 : before;
  const lines: TipLine[] = [
    { colour: theme.blue, name: "delivered", value: scan.mbps[i] === null ? `${digits(scan.packets_per_s[i])} packets/s` : mbps(scan.mbps[i]) },
    { colour: theme.orange, name: "round trip, mean", value: ms(scan.rtt_ms[i]) }, { colour: theme.faint, name: "round trip, longest", value: ms(scan.rtt_max_ms[i]) },
    { colour: theme.vermillion, name: "lost", value: `${count(scan.lost[i])} of ${count((scan.delivered[i] ?? 0) + (scan.lost[i] ?? 0))}` },
    ...(scan.ce[i] ? [{ colour: theme.purple, name: "marked", value: count(scan.ce[i]) }] : []),
  ];
  return tip(`window of ${plural(scan.window[i] ?? 0, "packet", "packets")}`, lines);
}

function draw(run: RunView, scan: MbmScan, theme: Theme, width: number): { option: Option; height: number } {
  const made = panels(run, scan, theme);
  const places: Place[] = stack(width, made.map(({ height }) => height), 44, 58, 74);
  const label = { color: theme.faint, fontSize: 11, fontFamily: FONT };
  const entries = [{ name: "delivered", colour: theme.blue }, { name: "mean round trip", colour: theme.orange }, { name: "longest", colour: theme.faint }, { name: "lost", colour: theme.vermillion }, ...(scan.ce.some(Boolean) ? [{ name: "marked", colour: theme.purple }] : [])];
  const option = {
    // Above the names of the upright lines.
    title: made.map(({ title }, i) => panelTitle(title, i ? places[i]! : { ...places[0]!, top: places[0]!.top - 16 }, theme)), grid: places, legend: legend(theme, entries),
    xAxis: made.map((_, i) => windowAxis(i, scan, theme, i === made.length - 1)),
    yAxis: made.map(({ y }, i) => valueAxis(i, theme, { ...y, axisLabel: { ...label, ...(y as { axisLabel?: object }).axisLabel, formatter: (v: number) => String(Number(v.toPrecision(3))) } })),
    axisPointer: { link: [{ xAxisIndex: "all" }] },
    tooltip: tooltip(theme, "axis", (given: { axisValue: number }[]) => hover(scan, Number(given[0]?.axisValue ?? 0), theme)),
    series: made.flatMap(({ series }) => series),
  };
  return { option: option as unknown as Option, height: heightOf(places) };
}

function finding({ shown: { onset, first_mark, window } }: Shown): string {
  const first = first_mark ? `the first loss or mark comes at a window of ${count(first_mark.window)}${first_mark.queue_ms === null ? "" : `, with a queue of ${ms(first_mark.queue_ms)}`}` : `nothing is lost up to a window of ${count(window.at(-1))}`;
  return onset ? `The queue begins at a window of ${count(onset.window)}; ${first}` : `No queue is seen; ${first}`;
}

function numbers(all: Shown[]): Table {
  const rows = all.flatMap(({ test, shown: s }) => s.window.map((w, i) => [test.test, count(w), digits(s.mbps[i]), digits(s.packets_per_s[i]), digits(s.rtt_ms[i]), digits(s.rtt_max_ms[i]), count(s.delivered[i]), count(s.lost[i]), count(s.ce[i])]));
  return { head: ["test", "window, packets", "delivered, Mbit/s", "delivered, packets/s", "mean round trip, ms", "longest, ms", "packets delivered", "lost", "marked"], rows };
}

export function scan(run: RunView): Spec | null {
  // The one that says most comes first.
  const rank = ({ shown }: Shown) => shown.window.length + (shown.onset ? 10_000 : 0);
  const all = having(run, ({ scan: found }) => (found?.window.length ? found : null)).sort((a, b) => rank(b) - rank(a));
  let one = all[0];
  if (!one) return null;
  return {
    id: "scan", title: finding(one),
    about: "A window that grows by one packet for every two windows delivered; each packet counts for the window by which it left.",
    howTo: [
      "From left to right the window grows: while the path has room the rate grows with it, from the purple line on a queue stands, so that the rate stays and the round trip grows, until the red line, where the queue gives its first sign.",
      "Good is a rate above the target before the queue begins, and a first loss at a queue of one to two of the target's round trips.",
      "A first loss before the queue begins is no sign of a full queue but loss of another cause; a round trip that goes on rising without one is bufferbloat.",
    ],
    draw: (theme, width) => draw(run, one!.shown, theme, width), table: () => numbers(all),
    ...(all.length > 1 ? { choice: { label: "Test", options: all.map(({ test }) => choiceName(test)), choose: (i: number) => {
      one = all[i] ?? one;
      return finding(one!);
    } } } : {}),
  };
}
