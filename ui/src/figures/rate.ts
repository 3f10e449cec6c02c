// What a transfer got and how long its round trips took, over time and as distributions.
import { axisStyle, FONT, heightOf, legend, logAxis, panelTitle, stack, tiles, transferAxis, valueAxis, type Option, type Series } from "../chart";
import type { RunView, Steps } from "../data";
import { digits, mbps, ms } from "../format";
import type { Theme } from "../palette";
import type { Spec } from "../figure";
import type { Table } from "../dom";
import { lastAt, timeTip, tip, tooltip } from "../tip";
import { curve, quantileMarks, tailLabel } from "./spread";
import { lineSeries } from "./timeline";
import { groupName, name, together, toolColour, toolWords, type Shown } from "./transfers";
import { endOf } from "./window";

interface Drawn { series: Series; name: string; text: (value: number) => string }

function steps(panel: number, words: string, { bin_s, v }: Steps, colour: string): Series {
  const data = v.map((value, i) => [(i + 0.5) * bin_s, value]);
  return { type: "line", name: words, xAxisIndex: panel, yAxisIndex: panel, step: "middle", data, showSymbol: data.length < 3, symbolSize: 3, lineStyle: { width: 1.4, color: colour }, areaStyle: { color: colour, opacity: 0.12 }, itemStyle: { color: colour }, emphasis: { disabled: true } } as Series;
}

function drawOverTime(group: Shown[], theme: Theme, width: number): { option: Option; height: number } {
  const rated = group.filter(({ course }) => course.goodput_mbps);
  const panels: { title: string; height: number; make: (i: number) => Drawn[] }[] = [];
  const words = (one: Shown) => toolWords(one.transfer.tool);
  const colour = (one: Shown) => toolColour(one.transfer.tool, theme);
  if (rated.length) panels.push({ title: "Acknowledged in order, Mbit/s of payload", height: 130, make: (i) => rated.map((one) => ({ series: steps(i, words(one), one.course.goodput_mbps!, colour(one)), name: words(one), text: mbps })) });
  panels.push({ title: "Round trip, ms (thick: smoothed)", height: 190, make: (i) => group.flatMap((one) => [
    ...(one.course.rtt_ms.n ? [{ series: lineSeries(i, `${words(one)}, each`, one.course.rtt_ms, colour(one), { lineStyle: { width: 0.8, color: colour(one), opacity: 0.55 } }), name: `${words(one)}: round trip`, text: ms }] : []),
    ...(one.course.srtt_ms.n ? [{ series: lineSeries(i, words(one), one.course.srtt_ms, colour(one), { step: "end", lineStyle: { width: 1.8, color: colour(one) } }), name: `${words(one)}: smoothed`, text: ms }] : []),
  ]) });
  const places = stack(width, panels.map(({ height }) => height), 44, 58, 58);
  const made = panels.map(({ make }, i) => make(i));
  const all = made.flat();
  const end = endOf(group);
  const option = {
    title: panels.map(({ title }, i) => panelTitle(title, places[i]!, theme)),
    legend: legend(theme, group.map((one) => ({ name: words(one), colour: colour(one) }))), grid: places,
    xAxis: panels.map((_, i) => transferAxis(i, end, theme, i === panels.length - 1)),
    yAxis: panels.map((_, i) => valueAxis(i, theme, { min: 0 })), axisPointer: { link: [{ xAxisIndex: "all" }] },
    tooltip: timeTip(theme, (_, i) => all[i] ?? null, all.map(({ series }) => series)), series: all.map(({ series }) => series),
  };
  return { option: option as unknown as Option, height: heightOf(places) };
}

function finding(group: Shown[]): string {
  const rates = group.filter(({ transfer }) => transfer.throughput_mbps !== null);
  if (!rates.length) return "Throughput and round trips over time";
  const of = ({ transfer }: Shown) => (group.length > 1 ? `${toolWords(transfer.tool)} gets ${mbps(transfer.throughput_mbps)}` : `The transfer gets ${mbps(transfer.throughput_mbps)}`);
  const rtt = group.find(({ course }) => course.rtt)?.course.rtt?.ms;
  const text = `${rates.map(of).join(", ")}${rtt ? `${group.length > 1 ? ";" : ", with"} round trips of ${digits(rtt.p5)} to ${ms(rtt.p95)}` : ""}`;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function chooser(groups: Shown[][], choose: (group: Shown[]) => string): Pick<Spec, "choice"> {
  if (groups.length < 2) return {};
  return { choice: { label: "Transfers", options: groups.map(groupName), choose: (i) => choose(groups[i] ?? groups[0]!) } };
}

export function rate(run: RunView): Spec | null {
  const groups = together(run).filter((group) => group.some(({ course }) => course.goodput_mbps || course.rtt_ms.n || course.srtt_ms.n));
  let group = groups[0];
  if (!group) return null;
  const [bin, pairs] = [group[0]?.course.goodput_mbps?.bin_s, Math.max(0, ...groups.flat().map(({ course }) => course.rtt_ms.bin_s ?? 0))];
  return {
    id: "rate", zoom: true, title: finding(group),
    about: `${bin ? `Throughput by the acknowledgements that the record has, in bins of ${digits(bin)} s. ` : ""}Of round trips ${pairs ? `minimum and maximum of every ${digits(pairs * 1e3)} ms are drawn` : "each is drawn"}; the thick line is the smoothed round trip of the sender (RFC 6298).`,
    howTo: [
      "Above, what arrived in order; below, how long a segment and its acknowledgement took.",
      "Round trips that rise with the window are a queue that fills; where they fall at once, it was cut.",
      "A notch above with flat round trips below is a wait for a segment that was sent again.",
    ],
    draw: (theme, width) => drawOverTime(group!, theme, width), table: () => numbers(groups),
    ...chooser(groups, (next) => {
      group = next;
      return finding(next);
    }),
  };
}

function drawSpread(group: Shown[], theme: Theme, width: number): { option: Option; height: number } {
  const known = group.filter(({ course }) => course.rtt);
  const places = tiles(width, 2, width > 620 ? 2 : 1, 200, { top: 58, gapY: 74, gapX: 74 });
  const all = known.map(({ course }) => course.rtt!.ms);
  const [low, high] = [Math.min(...all.map(({ min }) => min)), Math.max(...all.map(({ max }) => max))];
  const lines = [0, 1].flatMap((panel) => known.map((one) => ({ panel, name: toolWords(one.transfer.tool), series: curve(panel, toolWords(one.transfer.tool), one.course.rtt!.curve, panel === 1, { width: 1.8 }, toolColour(one.transfer.tool, theme)) })));
  const label = { color: theme.faint, fontSize: 11, fontFamily: FONT };
  const option = {
    title: [panelTitle("Share of round trips up to", places[0]!, theme), panelTitle("Share above (the tail)", places[1]!, theme)],
    legend: legend(theme, known.map(({ transfer }) => ({ name: toolWords(transfer.tool), colour: toolColour(transfer.tool, theme) }))), grid: places,
    xAxis: places.map((_, i) => logAxis(i, low, high, theme, { name: "round trip, ms", nameLocation: "middle", nameGap: 24, axisPointer: { show: true, label: { show: false }, snap: false, lineStyle: { color: theme.faint, type: "dashed" } } })),
    yAxis: [valueAxis(0, theme, { min: 0, max: 1, interval: 0.25, axisLabel: { ...label, formatter: (v: number) => `${v * 100} %` } }), { ...axisStyle(theme), type: "log", gridIndex: 1, min: 1e-4, max: 1, axisLabel: { ...label, formatter: tailLabel } }],
    tooltip: tooltip(theme, "axis", (given: { axisValue: number; axisIndex: number }[]) => {
      const [x, panel] = [given[0]?.axisValue ?? 0, given[0]?.axisIndex ?? 0];
      const told = lines.filter((line) => line.panel === panel).map(({ name, series }) => {
        const { data, itemStyle } = series as unknown as { data: [number, number][]; itemStyle: { color: string } };
        const share = data[lastAt(data, x, (k) => data[k]?.[0] ?? 0)]?.[1] ?? panel;
        return { colour: itemStyle.color, name, value: `${Number((share * 100).toPrecision(3))} %` };
      });
      return tip(`${panel ? "above" : "up to"} ${ms(x)}`, told);
    }),
    series: [quantileMarks(0, theme), ...lines.map(({ series }) => series)],
  };
  return { option: option as unknown as Option, height: heightOf(places, 48) };
}

function numbers(groups: Shown[][]): Table {
  const rows = groups.flat().map(({ transfer, course }) => {
    const f = course.rtt?.ms;
    return [name(transfer), digits(transfer.throughput_mbps), f?.n ?? 0, ...[f?.min, f?.p5, f?.p50, f?.p95, f?.p99, f?.max].map(digits)];
  });
  return { head: ["transfer", "throughput, Mbit/s", "round trips", "min, ms", "p5, ms", "p50, ms", "p95, ms", "p99, ms", "max, ms"], rows };
}

function spreadFinding(group: Shown[]): string {
  const f = group.find(({ course }) => course.rtt)?.course.rtt?.ms;
  return f ? `Half of the round trips take more than ${ms(f.p50)}, one in a hundred more than ${ms(f.p99)}` : "How round trips are spread";
}

export function roundTrips(run: RunView): Spec | null {
  const groups = together(run).filter((group) => group.some(({ course }) => course.rtt));
  let group = groups[0];
  if (!group) return null;
  return {
    id: "rtt", title: spreadFinding(group), about: "All round trips of a transfer, as distributions; axes of time are logarithmic, to the base of 2, that of the tail to the base of 10.",
    howTo: ["Left: how many round trips were at most so long; right: how many were longer.", "A steep line far to the left is a short queue; a step to the right is time that packets stood in one.", "The least is the path without a queue, if the transfer ever let it run empty."],
    draw: (theme, width) => drawSpread(group!, theme, width), table: () => numbers(groups),
    ...chooser(groups, (next) => {
      group = next;
      return spreadFinding(next);
    }),
  };
}
