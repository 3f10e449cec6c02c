// How packets leave and how they arrive: the first ones of each test by their numbers, and all bursts by how long they take.
import { axisStyle, FONT, heightOf, legend, legendGrowth, panelTitle, stack, transferAxis, valueAxis, type Option, type Series } from "../chart";
import type { MbmArrivals, MbmTest, RunView } from "../data";
import type { Table } from "../dom";
import type { Spec } from "../figure";
import { count, digits, ms } from "../format";
import type { Theme } from "../palette";
import { lastAt, tip, tooltip, type TipLine } from "../tip";
import { cross, markPath, pathSeries, type Points } from "./paths";
import { median, summed } from "./transfers";
import { choiceName, having, plural } from "./verdicts";

interface Shown { test: MbmTest; shown: MbmArrivals }
interface Decoded { seq: Float64Array; left: Float64Array; arrived: Points; leaves: Points; missing: Points; marked: Points; end: number; low: number; high: number }

/** Points in the order of time. */
function inTime(all: [number, number][]): Points {
  all.sort((a, b) => a[0] - b[0]);
  return { t: all.map(([t]) => t), y: all.map(([, y]) => y) };
}

/** A packet without a row has no time of its own: it left with its burst, or else between its neighbours. */
function leftAt(gone: number, [before, t0]: [number, number], [after, t1]: [number, number], size: number): number {
  const burst = (seq: number) => Math.floor(seq / size);
  if (size > 1 && burst(gone) === burst(before)) return t0;
  if (size > 1 && burst(gone) === burst(after)) return t1;
  return t0 + ((t1 - t0) * (gone - before)) / (after - before);
}

function decode({ test, shown: { t_us, seq: steps, way_us, marked } }: Shown): Decoded {
  const size = test.pattern?.burst_packets ?? 1;
  const [left, seq] = [summed(t_us, 1e-3), summed(steps)];
  const at = (i: number): [number, number] => [(left[i] ?? 0) + (way_us[i] ?? 0) / 1e3, seq[i] ?? 0];
  const missing: [number, number][] = [];
  for (let i = 1; i < seq.length; i++) {
    const [before, after]: [number, number][] = [[seq[i - 1]!, left[i - 1]!], [seq[i]!, left[i]!]];
    for (let gone = before![0] + 1; gone < after![0]; gone++) missing.push([leftAt(gone, before!, after!, size), gone]);
  }
  const all = Array.from(seq, (_, i) => i);
  const arrived = inTime(all.map(at));
  return {
    seq, left, arrived, leaves: inTime(all.map((i) => [left[i]!, seq[i]!])), missing: inTime(missing), marked: inTime(marked.map(at)),
    end: Math.max(arrived.t[arrived.t.length - 1] ?? 0, left.at(-1) ?? 0, 0.01), low: seq[0] ?? 0, high: seq.at(-1) ?? 1,
  };
}

const dot = (x: number, y: number) => `M${x - 1.8} ${y}a1.8 1.8 0 1 0 3.6 0a1.8 1.8 0 1 0 -3.6 0Z`;
const ring = (x: number, y: number) => `M${x - 4.5} ${y}a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0Z`;

interface Kind { name: string; colour: string; series: Series }

function kinds({ leaves, arrived, missing, marked }: Decoded, theme: Theme): Kind[] {
  const one = (name: string, colour: string, style: object, points: Points, shape: (x: number, y: number) => string) => ({ name, colour, series: pathSeries(name, colour, style, (place) => markPath(points, place, shape)) });
  return [
    one("left", theme.blue, { fill: theme.blue, lineWidth: 0 }, leaves, dot), one("arrived", theme.green, { fill: theme.green, lineWidth: 0 }, arrived, dot),
    ...(marked.t.length ? [one("arrived marked", theme.purple, { lineWidth: 1.4 }, marked, ring)] : []),
    ...(missing.t.length ? [one("no arrival reported", theme.vermillion, { lineWidth: 1.6 }, missing, cross)] : []),
  ];
}

function hover({ leaves, arrived, missing }: Decoded, at: number, far: number, theme: Theme): string {
  const lines: TipLine[] = [];
  const told = (name: string, colour: string, { t, y }: Points) => {
    const [from, to] = [lastAt(t, at - far, (i) => t[i] ?? 0) + 1, lastAt(t, at + far, (i) => t[i] ?? 0)];
    if (to < from) return;
    const seen = Array.from({ length: to - from + 1 }, (_, i) => y[from + i] ?? 0);
    const [low, high] = [Math.min(...seen), Math.max(...seen)];
    lines.push({ colour, name, value: low === high ? `packet ${count(low)}` : `packets ${count(low)} to ${count(high)}` });
  };
  told("left", theme.blue, leaves);
  told("arrived", theme.green, arrived);
  told("no arrival reported", theme.vermillion, missing);
  return tip(`${digits(at)} ms`, lines.length ? lines : [{ name: "nothing left or arrived", value: "" }]);
}

function draw(decoded: Decoded, theme: Theme, width: number, stretch: () => [number, number]): { option: Option; height: number } {
  const made = kinds(decoded, theme);
  const places = stack(width, [Math.min(380, Math.max(260, width * 0.4))], 0, 58, 58 + legendGrowth(made.map(({ name }) => name), width));
  const { end, low, high } = decoded;
  const axis = transferAxis(0, end * 1.02, theme, true) as { axisLabel: object };
  const times = [...new Set([...Array.from(decoded.leaves.t), ...Array.from(decoded.arrived.t)])].sort((a, b) => a - b);
  const option = {
    title: [panelTitle("Number of the packet", places[0]!, theme)], grid: places, legend: legend(theme, made.map(({ name, colour }) => ({ name, colour }))),
    // With room at the left for what leaves at once.
    xAxis: [{ ...axis, min: -end * 0.012, axisLabel: { ...axis.axisLabel, showMinLabel: false }, name: "time since the first packet left, ms" }],
    yAxis: [valueAxis(0, theme, { min: low, max: Math.ceil(high + (high - low) * 0.04 + 1), splitNumber: 5, minInterval: 1, axisLine: { show: true, onZero: false, lineStyle: { color: theme.faint } }, axisLabel: { ...(axisStyle(theme) as any).axisLabel, showMaxLabel: false } })],
    tooltip: tooltip(theme, "axis", (given: { axisValue: number }[]) => {
      const [from, to] = stretch();
      return hover(decoded, Number(given[0]?.axisValue ?? 0), ((to - from) / 100) * end * 0.006, theme);
    }),
    series: [{ type: "custom", name: "", data: times.map((t) => [t, low]), renderItem: () => null }, ...made.map(({ series }) => series)],
  };
  return { option: option as unknown as Option, height: heightOf(places) };
}

function finding({ test, shown }: Shown): string {
  const { bursts } = shown;
  const size = test.pattern?.burst_packets ?? 1;
  const gone = decode({ test, shown }).missing.t.length;
  if (gone) return `Of the first ${count(shown.seq.length + gone)} packets of ${test.test}${size > 1 ? `, in bursts of ${count(size)}` : ""}, ${count(gone)} have no reported arrival`;
  if (size < 2 || !bursts.n) return `The packets of ${test.test} leave one by one${test.pattern?.headway_ms ? `, ${digits(test.pattern.headway_ms)} ms apart` : ""}`;
  const [left, arrived] = [median(bursts.left_ms), median(bursts.arrived_ms)];
  return `Bursts of ${count(size)} packets leave within ${ms(left)} and arrive within ${ms(arrived)} (medians)`;
}

function numbers(all: Shown[]): Table {
  const rows = all.flatMap(({ test, shown }) => {
    const { seq, left } = decode({ test, shown });
    const marked = new Set(shown.marked);
    return Array.from(seq, (n, i) => [test.test, count(n), left[i]!.toFixed(3), (left[i]! + (shown.way_us[i] ?? 0) / 1e3).toFixed(3), marked.has(i) ? "yes" : "no"]).slice(0, 1_000);
  });
  return { head: ["test", "packet", "left, ms", "arrived, ms", "marked"], rows };
}

function chooser(all: Shown[], choose: (one: Shown) => string): Pick<Spec, "choice"> {
  return all.length < 2 ? {} : { choice: { label: "Test", options: all.map(({ test }) => choiceName(test)), choose: (i) => choose(all[i] ?? all[0]!) } };
}

/** Tests whose packets leave in bursts come first, since that is what the figure is for, and of these the ones that fail. */
function withBursts(all: Shown[]): Shown[] {
  const rank = ({ test }: Shown) => ((test.pattern?.burst_packets ?? 1) > 4 ? 2 : 0) + (test.outcome === "FAIL" ? 1 : 0);
  return [...all].sort((a, b) => rank(b) - rank(a));
}

export function arrivals(run: RunView): Spec | null {
  const all = withBursts(having(run, ({ arrivals: found }) => (found?.seq.length ? found : null)));
  const first = all[0];
  if (!first) return null;
  let decoded = decode(first);
  const error = run.run.instrument?.clock_offset_error_ms;
  return {
    id: "arrivals", zoom: true, title: finding(first),
    about: `The first packets of a test, each where it left and where it arrived.${typeof error === "number" ? ` The two clocks agree within ${ms(error)}: by so much all arrivals may lie too far to the left or right together.` : ""}`,
    howTo: [
      "A blue dot is a packet that leaves, the green one at the same height its arrival; the distance between them is the way there.",
      "A burst leaves as an upright row; where it arrives as a slope, packets waited for each other, and the slope is the bottleneck's rate.",
      "Slopes that reach the next burst mean that the queue does not run empty between them, and crosses that it was full.",
      "Drag over a burst to see its packets.",
    ],
    draw: (theme, width, stretch) => draw(decoded, theme, width, stretch), table: () => numbers(all),
    ...chooser(all, (one) => {
      decoded = decode(one);
      return finding(one);
    }),
  };
}

function drawTimes({ bursts }: MbmArrivals, theme: Theme, width: number): { option: Option; height: number } {
  const places = stack(width, [180], 0, 58, 58);
  const kinds = [{ name: "took to leave", colour: theme.blue, values: bursts.left_ms, symbol: "circle" }, { name: "took to arrive", colour: theme.green, values: bursts.arrived_ms, symbol: "diamond" }];
  const end = (bursts.t_s.at(-1) ?? 1) * 1.02 || 1;
  const option = {
    title: [panelTitle("From the first packet of a burst to its last, ms", places[0]!, theme)], grid: places, legend: legend(theme, kinds.map(({ name, colour }) => ({ name, colour }))),
    xAxis: [{ ...transferAxis(0, end, theme, true), name: "time since the test's first packet left, s" }], yAxis: [valueAxis(0, theme, { min: 0, axisLabel: { color: theme.faint, fontSize: 11, fontFamily: FONT } })],
    tooltip: tooltip(theme, "axis", (given: { axisValue: number }[]) => {
      const i = Math.max(0, lastAt(bursts.t_s, Number(given[0]?.axisValue ?? 0), (k) => bursts.t_s[k] ?? 0));
      return tip(`burst at ${digits(bursts.t_s[i])} s`, kinds.map(({ name, colour, values }) => ({ name, colour, value: ms(values[i]) })));
    }),
    series: kinds.map(({ name, colour, values, symbol }) => ({ type: "scatter", name, data: bursts.t_s.map((t, i) => [t, values[i]]), symbol, symbolSize: bursts.t_s.length > 300 ? 3 : 5, itemStyle: { color: colour, opacity: 1 }, emphasis: { disabled: true } })),
  };
  return { option: option as unknown as Option, height: heightOf(places) };
}

function stretched({ test, shown: { bursts } }: Shown): string {
  const ratios = bursts.left_ms.flatMap((left, i) => (left > 0 ? [bursts.arrived_ms[i]! / left] : []));
  if (!ratios.length) return `Bursts of ${test.test} leave at once and arrive within ${ms(median(bursts.arrived_ms))} (median)`;
  const ratio = median(ratios);
  return ratio > 1.2 ? `Bursts of ${test.test} take ${digits(ratio)} times as long to arrive as to leave (median)` : `Bursts of ${test.test} arrive as fast as they leave`;
}

export function burstTimes(run: RunView): Spec | null {
  const all = withBursts(having(run, ({ arrivals: found }) => (found && found.bursts.n > 1 ? found : null)));
  let one = all[0];
  if (!one) return null;
  const rows = () => all.flatMap(({ test, shown: { bursts } }) => bursts.t_s.map((t, i) => [test.test, digits(t), digits(bursts.left_ms[i]), digits(bursts.arrived_ms[i])]));
  const left = Math.max(...all.map(({ shown: { bursts } }) => bursts.n - bursts.t_s.length));
  return {
    id: "burst-times", zoom: true, title: stretched(one),
    about: `Every burst of which at least half arrived, by those of its packets that did${left ? `, the first ${plural(one.shown.bursts.t_s.length, "one", "ones")} of a test` : ""}. Each of the two times is of one clock.`,
    howTo: ["A burst that arrives slower than it left was spread by the bottleneck: its packets stood in a queue there.", "Where both times are the same, the burst was not faster than the bottleneck, and did not test its queue.", "The full-window slow-start test asks for twice the time."],
    draw: (theme, width) => drawTimes(one!.shown, theme, width), table: () => ({ head: ["test", "when, s", "took to leave, ms", "took to arrive, ms"], rows: rows() }),
    ...chooser(all, (next) => {
      one = next;
      return stretched(next);
    }),
  };
}
