// The sequential test: the way of each test through packets, and losses and marks, until it crosses a line.
import { axisStyle, FONT, heightOf, legend, legendGrowth, panelTitle, tiles, valueAxis, type Option, type Series } from "../chart";
import type { MbmTest, MbmWalk, RunView } from "../data";
import type { Table } from "../dom";
import type { Spec } from "../figure";
import { count, digits, list } from "../format";
import type { Theme } from "../palette";
import { lastAt, tip, tooltip, type TipLine } from "../tip";
import { having, look, plural, signed, verdictWord } from "./verdicts";

interface Shown { test: MbmTest; shown: MbmWalk }

const passLine = ({ lines }: MbmWalk, n: number) => (lines ? lines.marks_per_packet * n - lines.below : NaN);
const failLine = ({ lines }: MbmWalk, n: number) => (lines ? lines.marks_per_packet * n + lines.above : NaN);
const ended = ({ packets, marks }: MbmWalk) => ({ n: packets.at(-1) ?? 0, m: marks.at(-1) ?? 0 });

/** A test that failed at once is shown by itself; the line that passes would be far to the right of it. */
function extent(walk: MbmWalk): { x: number; y: number } {
  const { n, m } = ended(walk);
  const least = walk.lines ? walk.lines.below / walk.lines.marks_per_packet : 0;
  const x = n * 8 < least ? n * 1.7 : Math.max(n, least) * 1.1;
  return { x: Math.max(x, 10), y: Math.max(m * 1.2, failLine(walk, x) * 1.15 || 0, m + 1, 4) };
}

function regions(i: number, walk: MbmWalk, x: number, theme: Theme): Series[] {
  if (!walk.lines) return [];
  const from = walk.lines.below / walk.lines.marks_per_packet;
  const line = (name: string, colour: string, origin: string, data: number[][]) => ({
    type: "line", name, xAxisIndex: i, yAxisIndex: i, data, silent: true, showSymbol: false, symbol: "none", itemStyle: { color: colour }, emphasis: { disabled: true },
    lineStyle: { color: colour, width: 1.4, type: [6, 4] }, areaStyle: { color: colour, opacity: theme.name === "dark" ? 0.16 : 0.1, origin },
  } as unknown as Series);
  return [
    line(FAILS, theme.vermillion, "end", [[0, walk.lines.above], [x, failLine(walk, x)]]),
    ...(from < x ? [line(PASSES, theme.green, "start", [[from, 0], [x, passLine(walk, x)]])] : []),
  ];
}

const [FAILS, PASSES, MARKS] = ["fails from this line on", "passes up to this line", "lost or marked"];

function course(i: number, { test, shown }: Shown, x: number, theme: Theme): Series[] {
  const { n, m } = ended(shown);
  const { symbol, colour } = look(test.outcome);
  return [
    { type: "line", name: MARKS, xAxisIndex: i, yAxisIndex: i, step: "end", data: [[0, 0], ...shown.packets.map((at, k) => [at, shown.marks[k] ?? 0])], showSymbol: false, lineStyle: { color: theme.ink, width: 2 }, itemStyle: { color: theme.ink }, emphasis: { disabled: true }, z: 4 },
    { type: "scatter", name: "verdict", xAxisIndex: i, yAxisIndex: i, data: [[n, m]], symbol, symbolSize: 12, itemStyle: { color: colour(theme), borderColor: theme.paper, borderWidth: 1.5, opacity: 1 }, emphasis: { disabled: true }, silent: true, z: 6,
      label: { show: true, formatter: verdictWord(test.outcome), position: n > x * 0.6 ? "top" : "right", align: n > x * 0.75 ? "right" : n > x * 0.6 ? "center" : "left", distance: 7, color: theme.ink, fontWeight: 650, fontSize: 12, fontFamily: FONT, textBorderColor: theme.paper, textBorderWidth: 3 } },
  ] as Series[];
}

function hover({ test, shown }: Shown, n: number, theme: Theme): string {
  const { n: last } = ended(shown);
  const at = lastAt(shown.packets, Math.min(n, last), (k) => shown.packets[k] ?? 0);
  const lines: TipLine[] = [];
  if (n <= last) lines.push({ colour: theme.ink, name: MARKS, value: count(shown.marks[at] ?? 0) });
  if (shown.lines) {
    lines.push({ colour: theme.vermillion, name: "fails from", value: count(Math.ceil(failLine(shown, n))) });
    const most = Math.floor(passLine(shown, n));
    lines.push({ colour: theme.green, name: "passes up to", value: most < 0 ? "none yet" : count(most) });
  }
  return tip(`${test.test}: ${count(Math.round(n))} packets`, lines);
}

function packetsAxis(i: number, max: number, theme: Theme): object {
  const short = (v: number) => (v >= 1e6 ? `${Number((v / 1e6).toPrecision(3))}M` : v >= 1e4 ? `${Number((v / 1e3).toPrecision(3))}k` : String(v));
  return { ...axisStyle(theme), type: "value", gridIndex: i, min: 0, max, splitNumber: 4, splitLine: { show: false }, name: "packets whose fate is known", nameLocation: "middle", nameGap: 25,
    axisLabel: { color: theme.faint, fontSize: 11, fontFamily: FONT, hideOverlap: true, showMaxLabel: false, formatter: short },
    axisPointer: { show: true, type: "line", snap: false, lineStyle: { color: theme.faint, type: "dashed" }, label: { show: false } } };
}

function draw(all: Shown[], theme: Theme, width: number): { option: Option; height: number } {
  const columns = width > 640 && all.length > 1 ? 2 : 1;
  const entries = [{ name: MARKS, colour: theme.ink }, { name: FAILS, colour: theme.vermillion, dash: true }, { name: PASSES, colour: theme.green, dash: true }];
  const places = tiles(width, all.length, columns, all.length > 1 ? 190 : Math.min(320, Math.max(220, width * 0.36)), { top: 58 + legendGrowth(entries.map(({ name }) => name), width), gapY: 82, gapX: 58 });
  const made = all.map(({ shown }) => extent(shown));
  const option = {
    title: all.map(({ test }, i) => panelTitle(`${width < 560 ? look(test.outcome).sign : `${signed(test)} `} ${test.test}: lost or marked packets`, places[i]!, theme)), grid: places,
    legend: legend(theme, entries),
    xAxis: made.map(({ x }, i) => packetsAxis(i, x, theme)),
    yAxis: made.map(({ y }, i) => valueAxis(i, theme, { min: 0, max: Math.ceil(y), minInterval: 1, splitNumber: 4, axisLabel: { color: theme.faint, fontSize: 11, fontFamily: FONT, showMaxLabel: false } })),
    tooltip: tooltip(theme, "axis", (given: { axisValue: number; axisIndex: number }[]) => hover(all[given[0]?.axisIndex ?? 0] ?? all[0]!, Math.max(0, Number(given[0]?.axisValue ?? 0)), theme)),
    series: all.flatMap((one, i) => [...regions(i, one.shown, made[i]!.x, theme), ...course(i, one, made[i]!.x, theme)]),
  };
  return { option: option as unknown as Option, height: heightOf(places, 48) };
}

function finding(all: Shown[]): string {
  const failed = all.filter(({ test }) => test.outcome === "FAIL" && test.reason === "loss_high");
  if (failed.length > 2) return `Too much is lost or marked in ${failed.length} of ${all.length} tests that losses decide`;
  if (failed.length) {
    const told = failed.map(({ test, shown }) => `${count(ended(shown).m)} of ${count(ended(shown).n)} packets of ${test.test}`);
    return `Too much is lost or marked: ${list(told)}`;
  }
  const passed = all.filter(({ test }) => test.outcome === "PASS");
  if (passed.length === all.length) return all.length === 1 ? `Losses stay few enough: ${count(ended(all[0]!.shown).m)} of ${plural(ended(all[0]!.shown).n, "packet", "packets")}` : `Losses stay few enough in all ${all.length} tests that they decide`;
  return `Losses are few enough in ${passed.length} of ${plural(all.length, "test", "tests")} that they decide`;
}

function rule(run: RunView): string {
  const { rule: kind } = run.mbm!.asked;
  if (kind?.kind === "fixed") return ` The rule of this run is a sample of ${count(kind.packets)} packets, judged by its interval: the lines are for comparison.`;
  return kind?.kind === "at_least" ? ` The rule of this run is to look at no fewer than ${count(kind.packets)} packets.` : "";
}

function numbers(all: Shown[]): Table {
  const rows = all.flatMap(({ test, shown }) => shown.packets.map((n, k) => [test.test, count(n), count(shown.marks[k]), shown.lines ? digits(Math.max(0, passLine(shown, n))) : null, shown.lines ? digits(failLine(shown, n)) : null]));
  return { head: ["test", "packets", "lost or marked", "passes up to", "fails from"], rows };
}

export function sprt(run: RunView): Spec | null {
  const all = having(run, ({ walk }) => (walk?.packets.length ? walk : null));
  if (!all.length) return null;
  return {
    id: "sprt", title: finding(all),
    about: `The sequential test of each test that losses decide: packets behind its growth period, and those of them that were lost or marked.${rule(run)}`,
    howTo: [
      "The dark stair goes one to the right for each packet and one up for each that is lost or marked; the test ends where it crosses a dashed line.",
      "Below the lower line the loss rate is good with the confidence that was asked for, above the upper one it is bad, and between them more packets are needed.",
      "A stair that rises in tall steps is loss in bursts, which the model does not expect: then look at the bursts.",
      "A test whose time ran out between the lines needs a longer --timeout.",
    ],
    draw: (theme, width) => draw(all, theme, width), table: () => numbers(all),
  };
}
