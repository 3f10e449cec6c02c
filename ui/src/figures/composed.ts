// Parts of a path, one below the other as a packet crosses them, and the whole that they make: what each loses against its
// part of the loss that is allowed. The form is that of a forest plot: one axis for all, the sum at the foot.
import { axisStyle, FONT, legendGrowth, panelTitle, type Option, type Place, type Series } from "../chart";
import type { Composition, Part, Report } from "../data";
import { h, type Table } from "../dom";
import type { Spec } from "../figure";
import { count, digits, ms, pct } from "../format";
import type { Theme } from "../palette";
import { tip, tooltip } from "../tip";
import { plain } from "./asked";
import { lossLines, lossScale, namedAxis, type LossScale } from "./losses";
import { badge, look, verdictWord } from "./verdicts";

const NARROW = 640;
const GOOD = "its part of the loss that is good";
const BAD = "its part of the loss that is bad";

const short = (value: number) => `${Number(value.toPrecision(2))} %`;
const interval = ({ interval_pct: ends }: Part) => (ends ? ` (${digits(ends[0])} to ${digits(ends[1])})` : "");
const rowsOf = ({ parts, whole }: Composition) => [...parts, whole];

/** What a row says in words: name, verdict and target, losses. */
function words(report: Report, composition: Composition, i: number, narrow: boolean): string[] {
  const part = rowsOf(composition)[i]!;
  const isWhole = i === composition.parts.length;
  const asked = report.runs[isWhole ? 0 : i]?.mbm?.asked;
  const target = asked?.rate_mbps ? `${plain(asked.rate_mbps)} Mbit/s over ${plain(asked.rtt_ms)} ms` : "";
  const own = isWhole || !asked?.path_rtt_ms ? "" : `own round trip ${ms(asked.path_rtt_ms)}`;
  return [
    isWhole ? `The whole path: ${composition.parts.length} parts` : part.name,
    [`${look(part.outcome).sign} ${verdictWord(part.outcome)}`, narrow && own ? "" : target, own].filter(Boolean).join(" · "),
    `lost ${pct(part.loss_pct)}${interval(part)}, good: ${short(part.good_pct)}`,
  ];
}

interface Frame { left: number; top: number; bottom: number; plot: number; textX: number; textY: number; width: number }

/** Where things are within a row. */
function frame(params: any, api: any, width: number): Frame {
  const band = api.size([0, 1])[1] as number;
  const middle = api.coord([0, params.dataIndex])[1] as number;
  const narrow = width < NARROW;
  const { x: left, width: inner } = params.coordSys;
  return { left, top: middle - band / 2, bottom: middle + band / 2, plot: narrow ? middle + band / 2 - 24 : middle, textX: 34, textY: narrow ? middle - band / 2 + 10 : middle - 25, width: narrow ? left + inner - 34 : left - 60 };
}

/** The chain: a node where parts meet, a line in the colour of the verdict with its sign, and what there is to say. */
function chain(report: Report, composition: Composition, theme: Theme, width: number): Series {
  const rows = rowsOf(composition);
  const text = (value: string, x: number, y: number, fill: string, size: number, weight: number, room: number) => ({ type: "text", silent: true, style: { text: value, x, y, fill, font: `${weight} ${size}px ${FONT}`, width: room, overflow: "truncate", verticalAlign: "top" } });
  return {
    type: "custom", silent: true, clip: false, tooltip: { show: false }, data: rows.map((_, i) => [0, i]), encode: { x: 0, y: 1 }, z: 3,
    renderItem: (params: any, api: any) => {
      const i = params.dataIndex as number;
      const part = rows[i]!;
      const isWhole = i === composition.parts.length;
      const { top, bottom, textX, textY, width: room } = frame(params, api, width);
      const { symbol, colour, sign } = look(part.outcome);
      const [from, to, middle] = [top + (isWhole ? 14 : 0), bottom - (isWhole ? 8 : 0), (top + bottom) / 2 + (isWhole ? 3 : 0)];
      const node = (cy: number) => ({ type: "circle", silent: true, shape: { cx: 15, cy, r: 5 }, style: { fill: theme.paper, stroke: theme.ink, lineWidth: 1.6 }, z2: 3 });
      const line = { type: "line", silent: true, shape: { x1: 15, y1: from, x2: 15, y2: to }, style: { stroke: colour(theme), lineWidth: isWhole ? 6 : 3.4 } };
      const mark = symbol === "rect" ? { type: "rect", shape: { x: 6, y: middle - 9, width: 18, height: 18 } } : symbol === "circle" ? { type: "circle", shape: { cx: 15, cy: middle, r: 9.5 } } : { type: "polygon", shape: { points: symbol === "diamond" ? [[15, middle - 12], [27, middle], [15, middle + 12], [3, middle]] : [[15, middle - 11], [26, middle + 9], [4, middle + 9]] } };
      const [name, verdict, lost] = words(report, composition, i, width < NARROW) as [string, string, string];
      const shift = isWhole ? 3 : 0;
      return { type: "group", children: [
        ...(isWhole ? [{ type: "line", silent: true, shape: { x1: 0, y1: top, x2: width, y2: top }, style: { stroke: theme.faint, lineWidth: 1 } }] : []),
        line, ...(i === 0 || isWhole ? [node(from)] : []), node(to),
        { ...mark, silent: true, style: { fill: colour(theme), stroke: theme.paper, lineWidth: 1.5 }, z2: 2 },
        { ...text(sign, 15, middle - 6, theme.paper, 12, 700, 20), style: { ...text(sign, 15, middle - 6, theme.paper, 12, 700, 20).style, align: "center" }, z2: 4 },
        text(name, textX, textY + shift, theme.ink, 13, 650, room), text(verdict, textX, textY + 18 + shift, theme.ink, 12, 400, room), text(lost, textX, textY + 35 + shift, theme.faint, 12, 400, room),
      ] };
    },
  } as unknown as Series;
}

/** What is allowed as zones with dashed borders, and what was lost as a dot with its interval; of the whole a diamond. */
function plots(composition: Composition, scale: LossScale, theme: Theme, width: number): Series {
  const rows = rowsOf(composition);
  return {
    type: "custom", silent: true, clip: false, tooltip: { show: false }, data: rows.map((_, i) => [scale.min, i]), encode: { x: 0, y: 1 }, z: 4,
    renderItem: (params: any, api: any) => {
      const i = params.dataIndex as number;
      const part = rows[i]!;
      const isWhole = i === composition.parts.length;
      const { left, plot } = frame(params, api, width);
      const right = left + params.coordSys.width;
      const x = (value: number) => Math.min(right, Math.max(left, api.coord([scale.y(value), i])[0]));
      const [high, low] = isWhole ? [17, 17] : [14, 14];
      const zone = (from: number, to: number, fill: string) => ({ type: "rect", shape: { x: from, y: plot - high, width: Math.max(0, to - from), height: high + low }, style: { fill, opacity: theme.name === "dark" ? 0.2 : 0.13 } });
      const border = (at: number, stroke: string) => ({ type: "line", shape: { x1: at, y1: plot - high - 3, x2: at, y2: plot + low + 3 }, style: { stroke, lineWidth: 1.6, lineDash: [4, 3] } });
      const [a, b] = part.interval_pct ?? [part.loss_pct, part.loss_pct];
      const at = x(part.loss_pct);
      const whisker = [[x(a), plot, x(b), plot], [x(a), plot - 5, x(a), plot + 5], [x(b), plot - 5, x(b), plot + 5]].map(([x1, y1, x2, y2]) => ({ type: "line", shape: { x1, y1, x2, y2 }, style: { stroke: theme.ink, lineWidth: 1.6 } }));
      const dot = isWhole ? { type: "polygon", shape: { points: [[at, plot - 9], [at + 8, plot], [at, plot + 9], [at - 8, plot]] } } : { type: "circle", shape: { cx: at, cy: plot, r: 4.5 } };
      return { type: "group", children: [zone(left, x(part.good_pct), theme.green), zone(x(part.bad_pct), right, theme.vermillion), border(x(part.good_pct), theme.green), border(x(part.bad_pct), theme.vermillion), ...whisker, { ...dot, style: { fill: theme.ink, stroke: theme.paper, lineWidth: 1 } }].map((element) => ({ ...element, silent: true })) };
    },
  } as unknown as Series;
}

function draw(report: Report, composition: Composition, theme: Theme, width: number): { option: Option; height: number } {
  const narrow = width < NARROW;
  const rows = rowsOf(composition);
  const entries = [{ name: "lost or marked, with its interval", colour: theme.ink, icon: "circle" }, { name: GOOD, colour: theme.green, icon: DASHES }, { name: BAD, colour: theme.vermillion, icon: DASHES }];
  const left = narrow ? 34 : Math.min(420, width * 0.42);
  const place: Place = { left, top: 56 + legendGrowth(entries.map(({ name }) => name), width), width: width - left - 16, height: rows.length * (narrow ? 116 : 78) };
  const scale = lossScale(rows.flatMap((part) => [part.loss_pct, part.interval_pct?.[1] ?? null, part.good_pct, part.bad_pct]));
  const option = {
    title: [panelTitle("lost or marked packets, %", place, theme)], grid: [place],
    legend: { top: 0, right: 8, itemWidth: 14, itemHeight: 8, itemGap: 14, selectedMode: false, textStyle: { color: theme.ink, fontSize: 12, fontFamily: FONT }, data: entries.map(({ name, colour, icon }) => ({ name, icon, itemStyle: { color: colour, opacity: 1, borderWidth: 0 }, lineStyle: { width: 0 } })) },
    xAxis: [namedAxis(0, scale, theme, theme.faint, { name: "lost or marked packets, %, in powers of ten", nameLocation: "middle", nameGap: 26, nameTextStyle: { color: theme.faint, fontSize: 11, fontFamily: FONT } })],
    yAxis: [{ ...axisStyle(theme), type: "category", inverse: true, gridIndex: 0, data: rows.map(({ name }) => name), axisLabel: { show: false }, axisTick: { show: false }, axisLine: { show: false }, splitLine: { show: false } }],
    tooltip: tooltip(theme, "axis", (given: { dataIndex: number }[]) => {
      const part = rows[given[0]?.dataIndex ?? 0] ?? rows[0]!;
      return tip(part.name, [
        { colour: look(part.outcome).colour(theme), name: "verdict", value: verdictWord(part.outcome) }, { colour: theme.ink, name: "lost or marked", value: `${count(part.marks)} of ${count(part.packets)}` },
        { name: "share", value: `${pct(part.loss_pct)}${interval(part)}` }, { colour: theme.green, name: "good up to", value: short(part.good_pct) }, { colour: theme.vermillion, name: "bad from", value: short(part.bad_pct) },
      ]);
    }),
    series: [
      ...entries.map(({ name, colour }) => ({ type: "line", name, data: [], itemStyle: { color: colour } }) as Series),
      // Draws nothing but the fine lines, and is where the pointer finds values.
      { type: "bar", data: rows.map(() => scale.min + 1e-9), barWidth: 0, itemStyle: { opacity: 0 }, emphasis: { disabled: true }, z: 1, markLine: { silent: true, z: 1, symbol: "none", label: { show: false }, data: narrow ? [] : lossLines(scale, theme, true) } } as unknown as Series,
      chain(report, composition, theme, width), plots(composition, scale, theme, width),
    ],
  };
  return { option: option as unknown as Option, height: place.top + place.height + 52 };
}

const DASHES = "path://M0 3h5v2H0zM8 3h5v2H8z";

function finding(report: Report, { whole, parts }: Composition): string {
  const asked = report.runs[0]?.mbm?.asked;
  const what = asked?.rate_mbps ? `${plain(asked.rate_mbps)} Mbit/s over ${plain(asked.rtt_ms)} ms` : "its target";
  const subject = `As parts of one path these ${parts.length} runs`;
  if (whole.outcome === "PASS") return `${subject} make a whole that carries ${what}: it loses ${pct(whole.loss_pct)}`;
  if (whole.outcome === "FAIL") return `${subject} make a whole that does not carry ${what}: it loses ${pct(whole.loss_pct)}`;
  return `${subject} do not tell whether the whole carries ${what}`;
}

function verdict({ whole, says, would_change, warnings, test }: Composition): HTMLElement {
  return h("div", { class: "composed" }, h("p", {}, badge(whole.outcome), ` ${test}: ${says}`), h("p", { class: "about" }, `What would change it: ${would_change}`),
    ...warnings.map((warning) => h("p", { class: "about" }, `Beware: ${warning}`)));
}

function numbers(all: Composition[]): Table {
  const rows = all.flatMap((one) => rowsOf(one).map((part) => [one.test, part.name, verdictWord(part.outcome), count(part.marks), count(part.packets), digits(part.loss_pct), digits(part.interval_pct?.[0]), digits(part.interval_pct?.[1]), short(part.good_pct), short(part.bad_pct)]));
  return { head: ["test", "part", "verdict", "lost or marked", "packets", "lost or marked, %", "95 % interval from, %", "to, %", "good up to", "bad from"], rows };
}

export function composed(report: Report): Spec | null {
  const all = report.composed?.tests ?? [];
  let one = all[0];
  if (!one) return null;
  const holder = h("div", {}, verdict(one));
  return {
    id: "composed", title: finding(report, one),
    about: "Each run as a part of one path, from top to bottom as a packet crosses them, with the exact 95 % interval of its loss; below the whole, whose loss is 1 - (1 - p)(1 - p)... of the parts (RFC 6049). What is good and bad for the whole is shared out equally.",
    howTo: [
      "A dot is what a part loses and its line the interval in which the real loss lies; the dashed borders are its equal part of the loss with which the whole is still good, and of that with which it is bad.",
      "Good is every dot in the green zone; a part beyond it spends what the others need, and the whole can bear that only while they lose less than their part.",
      "The diamond is the whole: it passes when its loss is surely below what is bad, and it fails when one part fails by itself.",
      "It holds only for runs over parts that follow each other and lose independently.",
    ],
    draw: (theme, width) => draw(report, one!, theme, width), html: () => holder, table: () => numbers(all),
    ...(all.length > 1 ? { choice: { label: "Test", options: all.map(({ test, whole }) => `${test}, ${verdictWord(whole.outcome)}`), choose: (i: number) => {
      one = all[i] ?? one;
      holder.replaceChildren(verdict(one!));
      return finding(report, one!);
    } } } : {}),
  };
}
