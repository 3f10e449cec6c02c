// All transfers of a run beside each other: what each got and lost, and how far ours and the kernel's differ.
import { axisStyle, FONT, heightOf, legend, panelTitle, tiles, valueAxis, type Option, type Series } from "../chart";
import type { RunView, Transfer } from "../data";
import { count, digits, mbps, pct } from "../format";
import type { Theme } from "../palette";
import type { Spec } from "../figure";
import type { Table } from "../dom";
import { tip, tooltip } from "../tip";
import { scale } from "./load";
import { ascending, median, pairs, quantile, toolColour, toolWords, type Pair } from "./transfers";

type Quantity = (transfer: Transfer) => number | null;
interface Panel { title: string; x: object; y: object; series: Series[] }

const toolsOf = (run: RunView) => [...new Set(run.btc!.transfers.map(({ tool }) => tool))].sort().reverse();
const toolSymbol = (tool: string) => (tool === "kernel" ? "diamond" : "circle");
const places = (run: RunView) => run.btc!.transfers.map(({ repeat }) => repeat);

/** Each transfer at its repetition; a thin line joins those that were made together. */
function byRepeat(run: RunView, what: Quantity, panel: number, text: (v: number) => string, theme: Theme): Series[] {
  const all = run.btc!.transfers;
  const joined = pairs(run).flatMap(({ ours, kernel, repeat }) => [[repeat, what(ours)], [repeat, what(kernel)], [repeat, null]]);
  const join = { type: "line", xAxisIndex: panel, yAxisIndex: panel, data: joined, silent: true, showSymbol: false, lineStyle: { color: theme.faint, width: 1 }, tooltip: { show: false } };
  const points = toolsOf(run).map((tool) => ({
    type: "scatter", name: toolWords(tool), xAxisIndex: panel, yAxisIndex: panel, symbol: toolSymbol(tool), symbolSize: tool === "kernel" ? 8 : 7, itemStyle: { color: toolColour(tool, theme) },
    data: all.filter((one) => one.tool === tool && what(one) !== null).map((one) => ({ value: [one.repeat, what(one)], tip: [`transfer ${one.transfer}: ${toolWords(tool)}, ${one.direction}`, [["", text(what(one)!)], ["segments", count(one.segments)], ["sent again", count(one.retransmits)], ["outcome", one.outcome]]] })),
  }));
  return [join, ...points] as unknown as Series[];
}

function stepsOf(all: Pair[], panel: number, theme: Theme): Series[] {
  const sorted = ascending(all.map(({ difference_pct }) => difference_pct));
  const data = sorted.map((value, i) => ({ value: [value, (i + 1) / sorted.length], tip: [`${i + 1} of ${sorted.length} pairs`, [["difference up to", pct(value)]]] }));
  return [{ type: "line", name: "pairs", xAxisIndex: panel, yAxisIndex: panel, step: "end", data, symbol: "circle", symbolSize: 4, showSymbol: sorted.length < 400, lineStyle: { color: theme.ink, width: 1.6 }, itemStyle: { color: theme.ink },
    markLine: { silent: true, symbol: "none", lineStyle: { color: theme.faint, type: "dotted", width: 1 }, label: { show: false }, data: [{ xAxis: -5 }, { xAxis: 5 }] } } as unknown as Series];
}

/** Whiskers from the least to the most, the box from 25 % to 75 %, a stroke at the median, and each value. */
function boxes(run: RunView, what: Quantity, panel: number, theme: Theme): Series[] {
  const tools = toolsOf(run);
  const data = tools.flatMap((tool, i) => {
    const sorted = ascending(run.btc!.transfers.filter((one) => one.tool === tool).flatMap((one) => what(one) ?? []));
    return sorted.length ? [{ value: [i, sorted[0]!, quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75), sorted.at(-1)!], tip: [`${toolWords(tool)}, ${sorted.length} transfers`, [["least", mbps(sorted[0])], ["25 %", mbps(quantile(sorted, 0.25))], ["median", mbps(quantile(sorted, 0.5))], ["75 %", mbps(quantile(sorted, 0.75))], ["most", mbps(sorted.at(-1))]]] }] : [];
  });
  const box = {
    type: "custom", name: "box", xAxisIndex: panel, yAxisIndex: panel, data, encode: { x: [1, 2, 3, 4, 5], y: 0 },
    renderItem: (_: unknown, api: any) => {
      const colour = toolColour(tools[api.value(0)] ?? "", theme);
      const y = api.coord([api.value(1), api.value(0)])[1];
      const x = [1, 2, 3, 4, 5].map((i) => api.coord([api.value(i), api.value(0)])[0] as number);
      const line = (x1: number, x2: number, tall: number, stroke: string, lineWidth: number) => ({ type: "line", shape: { x1, y1: y - tall, x2, y2: y + tall }, style: { stroke, lineWidth } });
      return { type: "group", children: [line(x[0]!, x[4]!, 0, colour, 1), line(x[0]!, x[0]!, 6, colour, 1), line(x[4]!, x[4]!, 6, colour, 1),
        { type: "rect", shape: { x: x[1]!, y: y - 11, width: Math.max(1.5, x[3]! - x[1]!), height: 22 }, style: { fill: colour, stroke: colour } }, line(x[2]!, x[2]!, 11, theme.paper, 2)] };
    },
  };
  return [box as unknown as Series];
}

function panels(run: RunView, theme: Theme): Panel[] {
  const all = pairs(run);
  const last = Math.max(...places(run));
  const label = { color: theme.faint, fontSize: 11, fontFamily: FONT };
  const axisLine = { show: true, onZero: false, lineStyle: { color: theme.faint } };
  const repeats = (panel: number) => valueAxis(panel, theme, { name: all.length ? "pair" : "transfer", nameLocation: "middle", nameGap: 24, min: -1, max: last + 1, minInterval: 1, splitLine: { show: false }, axisLabel: { ...label, formatter: (v: number) => (v < 0 || v > last ? "" : String(v)) } });
  const made: ((panel: number) => Panel)[] = [
    (i) => ({ title: "Throughput of each transfer, Mbit/s", x: repeats(i), y: valueAxis(i, theme, { min: 0, axisLine }), series: byRepeat(run, (one) => one.throughput_mbps, i, mbps, theme) }),
  ];
  if (all.length > 1) {
    const widest = scale(Math.max(6, ...all.map(({ difference_pct }) => Math.abs(difference_pct))) * 1.05, 2);
    made.push((i) => ({ title: "Share of pairs with a difference up to (dotted: ±5 %)", x: valueAxis(i, theme, { name: "ours against the kernel's, % of its throughput", nameLocation: "middle", nameGap: 24, ...widest, min: -widest.max }), y: valueAxis(i, theme, { min: 0, max: 1, interval: 0.25, axisLine, axisLabel: { ...label, formatter: (v: number) => `${v * 100} %` } }), series: stepsOf(all, i, theme) }));
  }
  if (run.btc!.transfers.some(({ loss_pct }) => loss_pct !== null)) made.push((i) => ({ title: "Packets lost in each transfer, %", x: repeats(i), y: valueAxis(i, theme, { min: 0, axisLine }), series: byRepeat(run, (one) => one.loss_pct, i, pct, theme) }));
  if (run.btc!.transfers.length > 2) made.push((i) => ({ title: "Throughput, Mbit/s: least, 25 %, median, 75 %, most", x: valueAxis(i, theme, { scale: true }), y: { ...axisStyle(theme), type: "category", gridIndex: i, inverse: true, data: toolsOf(run).map((tool) => (tool === "kernel" ? "kernel" : tool)), splitLine: { show: false }, axisTick: { show: false }, axisLabel: { ...label, color: theme.ink } }, series: boxes(run, (one) => one.throughput_mbps, i, theme) }));
  return made.map((make, i) => make(i));
}

function draw(run: RunView, theme: Theme, width: number): { option: Option; height: number } {
  const made = panels(run, theme);
  const where = tiles(width, made.length, width > 620 ? Math.min(2, made.length) : 1, 190, { top: 58, gapY: 76, gapX: 66, left: 58 });
  const option = {
    title: made.map(({ title }, i) => panelTitle(title, where[i]!, theme)), grid: where,
    legend: legend(theme, toolsOf(run).map((tool) => ({ name: toolWords(tool), colour: toolColour(tool, theme) }))),
    xAxis: made.map(({ x }) => x), yAxis: made.map(({ y }) => y),
    tooltip: tooltip(theme, "item", ({ data }: { data?: { tip?: [string, [string, string][]] } }) => {
      const [head, lines] = data?.tip ?? ["", []];
      return tip(head, lines.map(([name, value]) => ({ name, value })));
    }),
    series: made.flatMap(({ series }) => series),
  };
  return { option: option as unknown as Option, height: heightOf(where, 50) };
}

function finding(run: RunView): string {
  const all = pairs(run);
  if (!all.length) {
    const rates = ascending(run.btc!.transfers.flatMap(({ throughput_mbps }) => throughput_mbps ?? []));
    return rates.length ? `${count(rates.length)} transfers get ${digits(rates[0])} to ${mbps(rates.at(-1))}, half of them more than ${mbps(quantile(rates, 0.5))}` : "No transfer got through";
  }
  if (all.length === 1) return `Ours gets ${digits(Math.abs(all[0]!.difference_pct))} % ${all[0]!.difference_pct < 0 ? "less" : "more"} than the kernel's TCP`;
  const close = all.filter(({ difference_pct }) => Math.abs(difference_pct) <= 5).length;
  const middle = median(all.map(({ difference_pct }) => difference_pct));
  return `In ${count(close)} of ${count(all.length)} pairs ours and the kernel's differ by at most 5 %; the median difference is ${signed(middle)} %`;
}

export const signed = (value: number) => `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(value) < 10 ? Math.abs(value).toFixed(1) : digits(Math.abs(value))}`;

function numbers(run: RunView): Table {
  const differences = new Map(pairs(run).map((pair) => [pair.ours.transfer, pair]));
  const rows = run.btc!.transfers.map((one) => {
    const pair = differences.get(one.transfer);
    return [one.transfer, one.repeat, toolWords(one.tool), one.direction, one.cc, digits(one.throughput_mbps), digits(one.seconds), count(one.segments), count(one.sent_packets), count(one.retransmits), digits(one.loss_pct), count(one.reordered), count(one.duplicates), count(one.timeouts), count(one.recoveries), pair ? signed(pair.difference_pct) : "", pair?.loss_points !== null && pair ? signed(pair.loss_points) : "", one.reason ? `${one.outcome}: ${one.reason}` : one.outcome];
  });
  return { head: ["transfer", "pair", "carried by", "direction", "control", "throughput, Mbit/s", "took, s", "segments", "packets sent", "sent again", "lost, %", "reordered", "duplicates", "timeouts", "recoveries", "against the kernel's, %", "loss against it, points", "outcome"], rows };
}

export function transfers(run: RunView): Spec | null {
  // Of a single transfer the other figures tell.
  if (!run.btc || run.btc.transfers.length < 2) return null;
  const [all, left] = [pairs(run), run.btc.transfers_total - run.btc.transfers.length];
  return {
    id: "transfers", title: finding(run),
    about: `${count(run.btc.transfers_total)} transfers${left ? `, of which the first ${count(run.btc.transfers.length)} are here` : ""}; throughput is payload acknowledged in order over time.`,
    howTo: all.length ? [
      "The two marks of a pair are transfers back to back in random order, one by our sender, one by the kernel's TCP; the line between them is their difference.",
      "Where the path is steady the marks lie on each other and the curve is a step at 0.",
      "What two transfers of the same kind would differ by is the path's own unsteadiness; only more than that is a difference of the tools.",
    ] : ["Each mark is one transfer.", "The closer they lie, the steadier the path."],
    draw: (theme, width) => draw(run, theme, width), table: () => numbers(run),
  };
}
