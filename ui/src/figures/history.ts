// A monitor's history: what each run said, test by test, above what was lost, on one time axis.
//
// The finest level has an entry for each run. Drawn is the finest of which the entries can be told apart in the stretch of
// time that is shown: zooming in splits them. An entry of several runs stands for all of them: its strip has a mark for each
// verdict that any of them had, its loss is that of all their packets, and a hollow mark is the worst of them.
import { axisStyle, FONT, heightOf, legendGrowth, panelTitle, stack, type Option, type Place, type Series } from "../chart";
import type { History, HistoryLevel, HistoryTrack, Num } from "../data";
import type { Table } from "../dom";
import type { Spec } from "../figure";
import { count, digits, pct } from "../format";
import type { Theme } from "../palette";
import { lastAt, tip, tooltip, type TipLine } from "../tip";
import { lossAxis, lossLines, lossScale, namedAxis, type LossScale } from "./losses";
import { look, plural, verdictWord } from "./verdicts";

export const OUTCOMES: (string | null)[] = ["PASS", "FAIL", "INCONCLUSIVE", "ERROR", null];
/** The worst on top. */
const LANES = [0, 2, 3, 1, 4];
interface Entry { name: string; colour: string; icon: string; hollow?: boolean }
const DASHES = "path://M0 3h5v2H0zM8 3h5v2H8z";
/** Pixels of an entry, at least. */
const FINEST = 2.5;

/** A time as people write it: 2026-11-21 07:29 UTC. */
export const utc = (ms: number) => `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC`;
export const trackName = ({ test }: HistoryTrack) => test ?? "all tests together";

/** When the entries of the finest level begin and end, and those of coarser ones from them. */
class Times {
  readonly begin: number[];
  readonly first: number;
  readonly last: number;
  private readonly usual: number;

  constructor(private readonly history: History) {
    let sum = 0;
    this.begin = history.t_ms.map((step) => (sum += step));
    const gaps = this.begin.slice(1).map((t, i) => t - this.begin[i]!).sort((a, b) => a - b);
    this.usual = Math.max(1, gaps[gaps.length >> 1] ?? 60_000);
    this.first = this.begin[0] ?? 0;
    this.last = this.end(0, this.begin.length - 1);
  }

  private size = (level: number) => this.history.factor ** level;
  start = (level: number, i: number) => this.begin[i * this.size(level)] ?? this.first;

  /** Where the next one begins, or a little behind its last run when there was a break. */
  end(level: number, i: number): number {
    const last = Math.min((i + 1) * this.size(level), this.begin.length) - 1;
    const begun = this.begin[last] ?? this.first;
    return Math.min(this.begin[last + 1] ?? Infinity, begun + 1.5 * this.usual);
  }

  entries = (level: number) => Math.ceil(this.begin.length / this.size(level));
  at = (level: number, t: number) => lastAt({ length: this.entries(level) }, t, (i) => this.start(level, i));
  record = (level: number, i: number) => this.history.record[i * this.size(level)] ?? "";

  /** The level to draw in so many pixels from one time to another. */
  level(from: number, to: number, pixels: number, levels: number): number {
    for (let level = 0; level < levels - 1; level++) {
      if (this.at(level, to) - Math.max(0, this.at(level, from)) <= pixels / FINEST) return level;
    }
    return levels - 1;
  }
}

interface Drawing { x: (t: number) => number; y: (v: number) => number; level: number; first: number; last: number; left: number; right: number }

/** One path of all entries that are shown, made anew whenever the axes change. */
function marks(panel: number, times: Times, levels: number, colour: string, style: object, make: (at: Drawing) => string): Series {
  return {
    type: "custom", xAxisIndex: panel, yAxisIndex: panel, clip: true, silent: true, tooltip: { show: false }, data: [[times.first, 0]], itemStyle: { color: colour },
    renderItem: (params: any, api: any) => {
      const { x: left, width } = params.coordSys;
      const [[x0, y0], [x1, y1]] = [api.coord([times.first, 0]), api.coord([times.last, 1])];
      const wide = Math.max(1, times.last - times.first);
      const x = (t: number) => x0 + ((t - times.first) / wide) * (x1 - x0);
      const t = (px: number) => times.first + ((px - x0) / (x1 - x0)) * wide;
      const level = times.level(t(left), t(left + width), width, levels);
      const pathData = make({ x, y: (v) => y0 + v * (y1 - y0), level, first: Math.max(0, times.at(level, t(left))), last: times.at(level, t(left + width)), left, right: left + width });
      return pathData ? { type: "path", shape: { pathData }, style: { fill: colour, stroke: "none", ...style } } : null;
    },
  } as unknown as Series;
}

const px = (value: number) => value.toFixed(1);

/** Verdicts that the track ever has, the worst on top. */
const lanes = (track: HistoryTrack) => LANES.filter((outcome) => track.levels[0]?.says[outcome]?.length);

function strip(panel: number, track: HistoryTrack, times: Times, theme: Theme): Series[] {
  return lanes(track).map((outcome, lane) => marks(panel, times, track.levels.length, look(OUTCOMES[outcome]!).colour(theme), {}, ({ x, y, level, first, last, left, right }) => {
    const { says } = track.levels[level]!;
    let path = "";
    for (let i = first; i <= last; i++) {
      const runs = says[outcome]?.[i] ?? 0;
      if (!runs) continue;
      const all = says.reduce((sum, column) => sum + (column[i] ?? 0), 0);
      // The height is the share of runs, but never too low to be seen; nor is the width.
      const half = 0.42 * (0.3 + 0.7 * (runs / all));
      const [from, to] = [Math.max(left, x(times.start(level, i))), Math.min(right, x(times.end(level, i)))];
      const room = to - from > 4 ? 1 : 0;
      path += `M${px(from)} ${px(y(lane - half))}H${px(Math.max(from + 1.6, to - room))}V${px(y(lane + half))}H${px(from)}Z`;
    }
    return path;
  }));
}

const observed = ({ packets, marks: lost }: HistoryLevel, i: number): Num => (packets[i] ? (100 * (lost[i] ?? 0)) / packets[i]! : null);

function losses(panel: number, track: HistoryTrack, times: Times, scale: LossScale, theme: Theme): Series[] {
  const each = (make: (x: number, level: HistoryLevel, i: number, y: (pct: number) => number) => string) => ({ x, y, level, first, last }: Drawing) => {
    let path = "";
    for (let i = first; i <= last; i++) {
      const shown = track.levels[level]!;
      if (observed(shown, i) !== null) path += make((x(times.start(level, i)) + x(times.end(level, i))) / 2, shown, i, (value) => y(scale.y(value)));
    }
    return path;
  };
  const dot = (r: number) => `a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
  const add = (colour: string, style: object, make: Parameters<typeof each>[0]) => marks(panel, times, track.levels.length, colour, style, each(make));
  return [
    add(theme.blue, { fill: "none", stroke: theme.blue, lineWidth: 1.2, opacity: 0.65 }, (x, { low_pct, high_pct }, i, y) => `M${px(x)} ${px(y(low_pct[i] ?? 0))}V${px(y(high_pct[i] ?? 0))}`),
    add(theme.blue, {}, (x, level, i, y) => `M${px(x - 2.3)} ${px(y(observed(level, i)!))}${dot(2.3)}`),
    add(theme.ink, { fill: theme.paper, stroke: theme.ink, lineWidth: 1.1 }, (x, level, i, y) => {
      const worst = level.worst_pct[i] ?? null;
      if (worst === null || worst <= observed(level, i)! * 1.000001) return "";
      return `M${px(x)} ${px(y(worst) - 3.6)}l3.2 3.6l-3.2 3.6l-3.2 -3.6Z`;
    }),
  ];
}

/** Where the loss is good, and where it is bad. */
function limits(panel: number, history: History, scale: LossScale, theme: Theme): Series {
  const line = (value: Num | undefined, colour: string) => (value ? [{ yAxis: scale.y(value), lineStyle: { color: colour, type: "dashed", width: 1.4 } }] : []);
  return { type: "line", xAxisIndex: panel, yAxisIndex: panel, data: [], silent: true, tooltip: { show: false },
    markLine: { silent: true, z: 1, symbol: "none", label: { show: false }, data: [...lossLines(scale, theme), ...line(history.asked?.good_pct, theme.green), ...line(history.asked?.bad_pct, theme.vermillion)] } } as unknown as Series;
}

/** Draws nothing: there the pointer finds values. */
function instants(panel: number, times: Times): Series {
  const level = times.level(times.first, times.last, 2_000, 20);
  const data = Array.from({ length: times.entries(level) }, (_, i) => [times.start(level, i), 0]);
  return { type: "line", xAxisIndex: panel, yAxisIndex: panel, data: [...data, [times.last, 0]], symbol: "none", showSymbol: false, lineStyle: { width: 0 }, emphasis: { disabled: true } } as unknown as Series;
}

export function shareWords(marked: number, packets: number, low: Num, high: Num): string {
  return packets ? `${count(marked)} of ${count(packets)}: ${pct((100 * marked) / packets)}${low === null || high === null ? "" : ` (${digits(low)} to ${digits(high)})`}` : "–";
}

function said({ says }: HistoryLevel, i: number): string {
  const found = LANES.toReversed().flatMap((outcome) => (says[outcome]?.[i] ? [[outcome, says[outcome][i]] as const] : []));
  const all = found.reduce((sum, [, runs]) => sum + runs, 0);
  return found.map(([outcome, runs]) => `${look(OUTCOMES[outcome]!).sign} ${all > 1 ? `${count(runs)} ` : ""}${verdictWord(OUTCOMES[outcome]!)}`).join(", ");
}

function hover(history: History, times: Times, track: HistoryTrack | null, t: number, level: number, theme: Theme): string {
  const i = Math.max(0, times.at(level, t));
  const runs = history.tracks[0]!.levels[level]!.says.reduce((sum, column) => sum + (column[i] ?? 0), 0);
  const [from, to] = [utc(times.start(level, i)), utc(times.end(level, i))];
  const lines: TipLine[] = history.tracks.map((one) => ({ name: trackName(one), value: said(one.levels[level]!, i) }));
  const shown = track?.levels[level];
  if (shown) {
    lines.push({ colour: theme.blue, name: `lost or marked${history.tracks.length > 1 ? `, ${track.test}` : ""}`, value: shareWords(shown.marks[i] ?? 0, shown.packets[i] ?? 0, shown.low_pct[i] ?? null, shown.high_pct[i] ?? null) });
    if (runs > 1 && shown.worst_pct.length) lines.push({ colour: theme.ink, name: "in the worst run", value: pct(shown.worst_pct[i] ?? null) });
  }
  lines.push({ name: runs > 1 ? "records from" : "record", value: times.record(level, i) });
  return tip(runs > 1 ? `${plural(runs, "run", "runs")}, ${from} to ${to.slice(5)}` : from, lines);
}

function timeAxis(i: number, times: Times, theme: Theme, isLast: boolean): object {
  return { ...axisStyle(theme), type: "time", gridIndex: i, min: times.first, max: times.last, axisLine: { onZero: false, lineStyle: { color: theme.faint } }, splitLine: { show: false }, name: isLast ? "time, UTC" : "", nameLocation: "middle", nameGap: 28,
    axisLabel: { show: isLast, color: theme.faint, fontSize: 11, fontFamily: FONT, hideOverlap: true },
    axisPointer: { show: true, type: "line", snap: false, lineStyle: { color: theme.faint, type: "dashed" }, label: { show: false } } };
}

function laneAxis(i: number, track: HistoryTrack, theme: Theme, narrow: boolean): object {
  const all = lanes(track);
  const label = (lane: number) => {
    const outcome = OUTCOMES[all[lane] ?? 4]!;
    return narrow ? look(outcome).sign : `${look(outcome).sign} ${verdictWord(outcome)}`;
  };
  return namedAxis(i, { min: -0.5, max: all.length - 0.5, ticks: all.map((_, lane) => lane), label }, theme, theme.ink, { axisTick: { show: false } });
}

function draw(history: History, times: Times, track: HistoryTrack | null, theme: Theme, width: number, stretch: () => [number, number]): { option: Option; height: number } {
  const narrow = width < 560;
  const strips = history.tracks;
  const found = LANES.toReversed().filter((outcome) => strips.some((one) => lanes(one).includes(outcome)));
  const { good_pct: good, bad_pct: bad } = history.asked ?? { good_pct: null, bad_pct: null };
  const limit = (name: string, value: Num, colour: string): Entry[] => (value ? [{ name: `${name} ${Number(value.toPrecision(2))} %`, colour, icon: DASHES }] : []);
  const entries: Entry[] = [
    ...(narrow ? found : []).map((outcome) => ({ name: `${look(OUTCOMES[outcome]!).sign} ${verdictWord(OUTCOMES[outcome]!)}`, colour: look(OUTCOMES[outcome]!).colour(theme), icon: "rect" })),
    ...(track ? [{ name: "lost or marked", colour: theme.blue, icon: "circle" }] : []),
    ...(track && (track.levels.length > 1 || history.each > 1) ? [{ name: "worst run of several", colour: theme.ink, icon: "diamond", hollow: true }] : []),
    ...(track ? [...limit("good up to", good, theme.green), ...limit("bad from", bad, theme.vermillion)] : []),
  ];
  const heights = [...strips.map((one) => Math.max(26, lanes(one).length * (strips.length > 3 ? 14 : 18))), ...(track ? [210] : [])];
  const places: Place[] = stack(width, heights, 36, narrow ? 46 : 116, 54 + legendGrowth(entries.map(({ name }) => name), width));
  const loss = places.length - 1;
  const all = track ? track.levels.flatMap((level) => [...level.packets.map((_, i) => observed(level, i)), ...level.worst_pct]) : [];
  const highs = track?.levels.at(-1)?.high_pct ?? [];
  const scale = lossScale([...all, ...highs, history.asked?.good_pct ?? null, history.asked?.bad_pct ?? null]);
  const option = {
    useUTC: true,
    title: [...strips.map((one, i) => panelTitle(`${trackName(one)}: verdicts`, places[i]!, theme)), ...(track ? [panelTitle(`${track.test}: lost or marked packets, %`, places[loss]!, theme)] : [])],
    grid: places,
    legend: { top: 0, right: 8, itemWidth: 14, itemHeight: 8, itemGap: 14, selectedMode: false, textStyle: { color: theme.ink, fontSize: 12, fontFamily: FONT },
      data: entries.map(({ name, colour, icon, hollow }) => ({ name, icon, itemStyle: { color: hollow ? theme.paper : colour, borderColor: colour, opacity: 1, borderWidth: hollow ? 1.1 : 0 }, lineStyle: { width: 0 } })) },
    xAxis: places.map((_, i) => timeAxis(i, times, theme, i === loss)),
    yAxis: places.map((_, i) => (i < strips.length ? laneAxis(i, strips[i]!, theme, narrow) : lossAxis(i, scale, theme))),
    axisPointer: { link: [{ xAxisIndex: "all" }] },
    tooltip: tooltip(theme, "axis", (given: { axisValue: number }[]) => {
      const [from, to] = stretch().map((share) => times.first + (share / 100) * (times.last - times.first)) as [number, number];
      return hover(history, times, track, Number(given[0]?.axisValue ?? times.first), times.level(from, to, places[0]!.width, strips[0]!.levels.length), theme);
    }),
    series: [
      // For the legend, which names series.
      ...entries.map(({ name, colour }) => ({ type: "line", name, data: [], itemStyle: { color: colour } }) as Series),
      ...places.map((_, i) => instants(i, times)),
      ...strips.flatMap((one, i) => strip(i, one, times, theme)),
      ...(track ? [limits(loss, history, scale, theme), ...losses(loss, track, times, scale, theme)] : []),
    ],
  };
  return { option: option as unknown as Option, height: heightOf(places, 52) };
}

function finding({ says, runs, last }: History): string {
  const [pass] = says;
  const now = `the last one ${last.verdict === "PASS" ? "passes" : last.verdict === "FAIL" ? "fails" : last.verdict === null ? "has no verdict" : `is ${last.verdict}`}`;
  return pass === runs ? `All ${plural(runs, "run passes", "runs pass")}` : `${count(pass)} of ${plural(runs, "run passes", "runs pass")}; ${now}`;
}

/** Runs in a table, at most so many; of a longer history entries of several. */
const MOST_ROWS = 2_000;

function numbers(history: History, times: Times): Table {
  let level = 0;
  while (times.entries(level) * history.tracks.length > MOST_ROWS && level < history.tracks[0]!.levels.length - 1) level++;
  const rows = history.tracks.flatMap((track) => {
    const shown = track.levels[level]!;
    return Array.from({ length: times.entries(level) }, (_, i) => [utc(times.start(level, i)), times.record(level, i), trackName(track), said(shown, i), count(shown.packets[i] ?? null), count(shown.marks[i] ?? null), digits(observed(shown, i)), digits(shown.low_pct[i]), digits(shown.high_pct[i])]);
  });
  return { head: ["begun", "record", "test", "verdicts", "packets", "lost or marked", "lost or marked, %", "95 % interval from, %", "to, %"], rows };
}

export function history(found: History): Spec {
  const times = new Times(found);
  const measured = found.tracks.filter(({ packets }) => packets > 0);
  let track = measured[0] ?? null;
  const levels = found.tracks[0]!.levels.length;
  const joined = levels > 1 || found.each > 1 ? ` Where runs are too close to be told apart, ${found.each > 1 ? `at least ${found.each}` : "some"} stand together: zoom in to split them.` : "";
  return {
    id: "history", zoom: true, title: finding(found),
    about: `Each run in a row of its verdict, and what it lost with the exact 95 % interval, in powers of ten with 0 at the foot.${joined}`,
    howTo: [
      "Each mark in a strip is a run in the row of its verdict; where runs stand together, its height is their share.",
      "Below, a dot is the share of packets that were lost or marked and its line the interval in which the real share lies; a hollow diamond is the worst run of several.",
      "Good is a strip of PASS alone, with dots below the green line; runs above the red one fail, and between the two either answer is right.",
      "A FAIL at the same time of each day is load, one that stays is a fault; the record that is named when you point at it says more.",
    ],
    draw: (theme, width, stretch) => draw(found, times, track, theme, width, stretch), table: () => numbers(found, times),
    ...(measured.length > 1 ? { choice: { label: "Losses of", options: measured.map(trackName), choose: (i: number) => {
      track = measured[i] ?? track;
    } } } : {}),
  };
}
