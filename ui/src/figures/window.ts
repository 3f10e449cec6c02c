// The sender's window: how it grew, what cut it, what was in the network.
import { heightOf, legend, legendGrowth, panelTitle, stack, transferAxis, valueAxis, type Option, type Series } from "../chart";
import type { RunView } from "../data";
import { count, digits } from "../format";
import type { Theme } from "../palette";
import type { Spec } from "../figure";
import type { Table } from "../dom";
import { timeTip } from "../tip";
import { scale } from "./load";
import { lineSeries } from "./timeline";
import { groupName, name, together, toolColour, toolWords, type Shown } from "./transfers";

const segments = (value: number) => `${digits(value)} segments`;

interface Cause { words: string; colour: (theme: Theme) => string; symbol: string; turn: number }

const CAUSES: Record<string, Cause> = {
  "cut-loss": { words: "cut by loss", colour: (theme) => theme.vermillion, symbol: "triangle", turn: 180 },
  "cut-mark": { words: "cut by a mark", colour: (theme) => theme.purple, symbol: "diamond", turn: 0 },
  "cut-timeout": { words: "cut by a timeout", colour: (theme) => theme.ink, symbol: "rect", turn: 0 },
  undone: { words: "cut taken back", colour: (theme) => theme.green, symbol: "triangle", turn: 0 },
  violation: { words: "acknowledgement refused", colour: (theme) => theme.purple, symbol: "pin", turn: 0 },
};

interface Named { name: string; text: (value: number) => string }

function panel(i: number, { transfer, course }: Shown, theme: Theme): { series: Series[]; named: Named[] } {
  const colour = toolColour(transfer.tool, theme);
  const step = { step: "end" };
  const windows = [
    { words: "in the network", line: course.flight_segments, colour: theme.faint, style: { lineStyle: { width: 0.8, color: theme.faint, opacity: 0.8 } } },
    { words: "slow-start threshold", line: course.ssthresh_segments, colour: theme.green, style: { ...step, lineStyle: { width: 1.2, color: theme.green, type: [5, 3] } } },
    { words: "congestion window", line: course.cwnd_segments, colour, style: { ...step, lineStyle: { width: 1.6, color: colour } } },
  ];
  const series = windows.map(({ words, line, colour: own, style }) => lineSeries(i, words, line, own, style));
  const named: Named[] = windows.map(({ words }) => ({ name: words, text: segments }));
  for (const [what, cause] of Object.entries(CAUSES)) {
    const data = course.events.filter((event) => event.what === what).map((event) => [event.t_s, event.from_segments ?? event.to_segments ?? 0]);
    if (!data.length) continue;
    series.push({ type: "scatter", name: cause.words, xAxisIndex: i, yAxisIndex: i, data, symbol: cause.symbol, symbolRotate: cause.turn, symbolSize: 8, symbolOffset: cause.turn ? [0, -6] : [0, 0], itemStyle: { color: cause.colour(theme), borderColor: theme.paper, borderWidth: 0.6 }, emphasis: { disabled: true }, z: 5 } as Series);
    named.push({ name: `${cause.words}, from`, text: segments });
  }
  return { series, named };
}

function highest(group: Shown[]): number {
  return Math.max(4, ...group.flatMap(({ course }) => [...course.cwnd_segments.v, ...course.flight_segments.v]).map((v) => v ?? 0));
}

const endOf = (group: Shown[]) => Math.max(0.1, ...group.map(({ course }) => Math.max(course.cwnd_segments.t_s.at(-1) ?? 0, course.srtt_ms.t_s.at(-1) ?? 0, course.rtt_ms.t_s.at(-1) ?? 0)));

function draw(group: Shown[], theme: Theme, width: number): { option: Option; height: number } {
  const made = group.map((one, i) => panel(i, one, theme));
  const all = made.flatMap(({ series }) => series);
  const named = made.flatMap(({ named }) => named);
  const end = endOf(group);
  const causes = Object.entries(CAUSES).filter(([what]) => group.some(({ course }) => course.events.some((event) => event.what === what)));
  const entries = [{ name: "congestion window", colour: toolColour(group[0]!.transfer.tool, theme) }, { name: "slow-start threshold", colour: theme.green }, { name: "in the network", colour: theme.faint }, ...causes.map(([, cause]) => ({ name: cause.words, colour: cause.colour(theme) }))];
  const places = stack(width, group.map(() => (group.length > 1 ? 175 : 250)), 44, 58, 60 + legendGrowth(entries.map(({ name }) => name), width));
  const option = {
    title: group.map(({ transfer }, i) => panelTitle(`${toolWords(transfer.tool)}${transfer.cc ? ` (${transfer.cc})` : ""}, segments`, places[i]!, theme, toolColour(transfer.tool, theme))),
    legend: legend(theme, entries), grid: places,
    xAxis: group.map((_, i) => transferAxis(i, end, theme, i === group.length - 1)),
    yAxis: group.map((_, i) => valueAxis(i, theme, scale(highest(group)))),
    axisPointer: { link: [{ xAxisIndex: "all" }] },
    tooltip: timeTip(theme, (_, i) => named[i] ?? null, all), series: all,
  };
  return { option: option as unknown as Option, height: heightOf(places) };
}

function cuts({ course }: Shown): number {
  return course.events.filter((event) => event.what.startsWith("cut-")).length;
}

function finding(group: Shown[]): string {
  const told = group.map((one) => `${one.transfer.tool === "ours" && group.length === 1 ? "The window" : toolWords(one.transfer.tool)} is cut ${count(cuts(one))} ${cuts(one) === 1 ? "time" : "times"}`);
  const known = group.some((one) => cuts(one) > 0);
  if (!known) return group.length > 1 ? "The windows of both, on the same axes" : "The window is never cut";
  const text = group.filter((one) => one.course.events.length || one.transfer.tool !== "kernel").map((one) => told[group.indexOf(one)]).join(", ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function numbers(groups: Shown[][]): Table {
  const rows = groups.flat().flatMap(({ transfer, course }) => course.events.slice(0, 400).map((event) => [name(transfer), event.t_s.toFixed(3), CAUSES[event.what]?.words ?? event.what, digits(event.from_segments), digits(event.to_segments)]));
  return { head: ["transfer", "when, s", "what", "from, segments", "to, segments"], rows };
}

export function sendersWindow(run: RunView): Spec | null {
  const groups = together(run).map((group) => group.filter(({ course }) => course.cwnd_segments.n)).filter((group) => group.length);
  let group = groups[0];
  if (!group) return null;
  const bin = Math.max(0, ...groups.flat().map(({ course }) => course.cwnd_segments.bin_s ?? 0));
  return {
    id: "window", zoom: true, title: finding(group),
    about: `Congestion window, slow-start threshold and what the sender held to be in the network${bin ? `; minimum and maximum of every ${digits(bin * 1e3)} ms` : ""}. The kernel's is what TCP_INFO said every 10 ms.`,
    howTo: [
      "The window grows until something is lost or marked, is cut, and grows again: the saw's teeth are how the sender finds the path's rate.",
      "Where it is above rate times round trip, the rest stands in a queue; where it is below, the path is not full.",
      "Marks stand where it was cut and say by what; a timeout costs most, since the window begins anew at one segment.",
      "Ours and the kernel's teeth should be alike in height and number over the same path, though never at the same instants.",
    ],
    draw: (theme, width) => draw(group!, theme, width), table: () => numbers(groups),
    ...(groups.length > 1 ? { choice: { label: "Transfers", options: groups.map(groupName), choose: (i: number) => {
      group = groups[i] ?? group;
      return finding(group!);
    } } } : {}),
  };
}

export { endOf };
