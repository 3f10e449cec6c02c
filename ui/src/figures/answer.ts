// What was asked of a path, what was found, and, in a lab, the truth beside it: in large, as key figures, and on a scale.
import { axisStyle, FONT, heightOf, stack, type Option, type Series } from "../chart";
import type { EstimateAnswer, Num, RunView } from "../data";
import { h } from "../dom";
import type { Spec } from "../figure";
import { bytes, count, digits, unit as withUnit } from "../format";
import type { Theme } from "../palette";
import { tip, tooltip } from "../tip";
import { powers } from "./generic";
import { badge, plural } from "./verdicts";

type Tile = [name: string, value: string, aside: string, to: string];

const NAMES: Record<string, string> = { rtt: "Round trip", owd: "One-way delay", jitter: "Variation of the delay", loss: "Loss", capacity: "Capacity", available: "Available bandwidth", bottleneck: "Bottleneck" };
export const property = ({ what }: EstimateAnswer) => NAMES[what ?? ""] ?? "Property";

/** A figure to the digits that its interval allows to tell: those of the page, or more where low and high are close together. */
function figure(value: Num, { low, high }: EstimateAnswer): string {
  if (value === null) return digits(null);
  const width = low !== null && high !== null ? high - low : 0;
  // The page's value has five digits.
  const most = Math.max(0, 4 - Math.floor(Math.log10(Math.abs(value) || 1)));
  const places = width > 0 && width < Math.abs(value) ? Math.min(most, Math.max(0, -Math.floor(Math.log10(width)))) : -1;
  const plain = digits(value);
  return places > (plain.split(".")[1]?.length ?? 0) ? value.toFixed(places) : plain;
}

const bounded = (answer: EstimateAnswer) => answer.low !== null && answer.high !== null && answer.low < answer.high;

/** The interval in words; empty where there is none. */
function interval(answer: EstimateAnswer): string {
  const { low, high, unit, value } = answer;
  const named = (v: Num) => `${figure(v, answer)} ${unit ?? ""}`;
  if (value === null || unit === "hop") return "";
  if (bounded(answer)) return `${figure(low, answer)} to ${named(high)}`;
  if (low !== null && high === null) return `at least ${named(low)}`;
  if (low === null && high !== null) return `at most ${named(high)}`;
  return "";
}

const words = (answer: EstimateAnswer) => (answer.unit === "hop" ? `hop ${count(answer.value)}` : `${figure(answer.value, answer)} ${answer.unit ?? ""}`.trim());
const way = ({ what, direction }: EstimateAnswer) => (what === "rtt" ? "there and back" : direction === "down" ? "from the far end to here" : "from here to the far end");

/** The answer in large: the figure with its interval, or that there is none. */
export function bigAnswer(run: RunView): HTMLElement[] {
  const answer = run.estimate?.answer;
  if (!answer || answer.conclusive === null) return [];
  const aside = interval(answer);
  const sure = answer.conclusive && answer.value !== null;
  const made = h("p", { class: "verdict-big answer" }, sure ? h("strong", {}, words(answer)) : badge("INCONCLUSIVE"), aside ? h("span", { class: "aside" }, sure ? aside : `not sure: ${aside}`) : null);
  return [made];
}

export function estimateTiles(run: RunView): Tile[] {
  if (!run.estimate) return [];
  const { answer, trains } = run.estimate;
  const { probes, probes_lost, seconds, overhead_bytes, rider_bytes, truth, unit } = answer;
  const lost = probes_lost ?? trains.probes - trains.arrived;
  const gaps = trains.gap_us;
  const tiles: (Tile | null)[] = [
    ["Asked", property(answer), way(answer), "answer"],
    answer.estimator ? ["Estimator", answer.estimator, seconds === null ? "did not come to its end" : `in ${digits(seconds)} s`, trains.n ? "trains" : "answer"] : null,
    truth ? ["Truth of the lab", withUnit(truth.value, unit ?? ""), truth.says, "answer"] : null,
    overhead_bytes === null ? null : ["Sent for this answer", bytes(overhead_bytes), `${plural(trains.n, "train", "trains")} of ${plural(probes ?? trains.probes, "probe", "probes")} in all, IP headers included`, "trains"],
    rider_bytes ? ["Of applications", bytes(rider_bytes), "travelled inside probes, and is not counted for them", "trains"] : null,
    ["Probes lost", count(lost), `of ${count(probes ?? trains.probes)}`, "trains"],
    gaps ? ["Gaps kept within", `${digits(gaps.p50)} µs`, gaps.n > 1 ? `in the median train; at worst ${digits(gaps.max)} µs` : "in the only train with gaps", "gaps"] : null,
  ];
  const there = figuresOf(run);
  return there.length ? tiles.filter((tile) => tile !== null).map(([name, value, aside, to]): Tile => [name, value, aside, there.includes(to) ? to : there[0]!]) : [];
}

/** The figures that tiles lead to, as far as they are there. */
function figuresOf(run: RunView): string[] {
  const { trains, details } = run.estimate!;
  const rated = trains.planned_mbps.n + trains.left_mbps.n + trains.arrived_mbps.n;
  const all: [string, boolean][] = [["answer", shown([run]).length > 0], ["hops", details.hops.length > 0], ["trains", rated > 0], ["gaps", trains.gap_error_us.n > 0]];
  return all.flatMap(([id, there]) => (there ? [id] : []));
}

interface Row { name: string; answer: EstimateAnswer }

/** Runs with a figure, of the same unit as the first. */
function shown(runs: RunView[]): Row[] {
  const rows = runs.flatMap(({ name, estimate }) => (estimate && [estimate.answer.value, estimate.answer.low, estimate.answer.high].some((v) => v !== null) && estimate.answer.unit !== "hop" ? [{ name, answer: estimate.answer }] : []));
  return rows.filter(({ answer }) => answer.unit === rows[0]!.answer.unit && answer.what === rows[0]!.answer.what);
}

const numbersOf = ({ answer: { value, low, high, truth } }: Row) => [value, low, high, truth?.value ?? null].filter((v): v is number => v !== null);

function ends(rows: Row[]): [number, number] {
  const all = rows.flatMap(numbersOf);
  return [Math.min(...all), Math.max(...all)];
}

/** Answers that are far apart are drawn by powers, those that are close together not from zero on. */
function isLog(rows: Row[]): boolean {
  const told = rows.flatMap(({ answer: { value, truth } }) => [value, truth?.value ?? null]).filter((v): v is number => v !== null);
  return ends(rows)[0] > 0 && Math.max(...told) > 20 * Math.min(...told);
}
function narrowed(rows: Row[]): boolean {
  const [low, high] = ends(rows);
  return low > 0 && high > low && (high - low) / high < 0.3;
}

function scaleOf(rows: Row[]): object {
  const [low, high] = ends(rows);
  if (isLog(rows)) return powers([low, high]);
  const room = Math.max(high - low, Math.abs(high) * 0.005, 1e-6);
  const narrow = narrowed(rows);
  return { type: "value", scale: true, min: narrow ? Math.max(0, low - room * 0.6) : Math.min(0, low), max: high > 0 ? high + room * (narrow ? 0.6 : 0.08) : 1 };
}

/** A bar from low to high, open at an end that is not known, with a stroke at the best guess. */
function found(rows: Row[], theme: Theme): Series {
  const data = rows.map(({ answer: { value, low, high } }, i) => ({ value: [value ?? low ?? high, i], row: i, low, high }));
  return {
    type: "custom", name: "found", encode: { x: 0, y: 1 }, data, itemStyle: { color: theme.blue },
    renderItem: ({ coordSys, dataIndex }: any, api: any) => {
      const { value, low, high, conclusive } = rows[dataIndex]!.answer;
      const x = (v: number) => api.coord([v, dataIndex])[0];
      const y = api.coord([api.value(0), dataIndex])[1];
      const [left, right] = [coordSys.x, coordSys.x + coordSys.width];
      const [from, to] = [low === null ? left : x(low), high === null ? right : x(high)];
      const known = low !== null || high !== null;
      const fill = { fill: theme.blue, opacity: conclusive ? 0.28 : 0.12, stroke: theme.blue, lineWidth: conclusive ? 1.2 : 1, ...(conclusive ? {} : { lineDash: [4, 3] }) };
      const line = (at: number, half: number, width: number) => ({ type: "line", shape: { x1: at, y1: y - half, x2: at, y2: y + half }, style: { stroke: theme.blue, lineWidth: width } });
      return { type: "group", children: [
        ...(known ? [{ type: "rect", shape: { x: from, y: y - 11, width: Math.max(2, to - from), height: 22 }, style: fill }] : []),
        ...(value === null ? [] : [line(x(value), 15, 3)]),
      ] };
    },
  } as unknown as Series;
}

function truths(rows: Row[], theme: Theme): Series {
  const data = rows.flatMap(({ answer: { truth } }, i) => (truth ? [{ value: [truth.value, i], row: i }] : []));
  return { type: "scatter", name: "truth of the lab", data, symbol: "diamond", symbolSize: 14, symbolOffset: [0, 19], itemStyle: { color: theme.vermillion, borderColor: theme.paper, borderWidth: 1 }, emphasis: { disabled: true } } as unknown as Series;
}

function draw(rows: Row[], theme: Theme, width: number): { option: Option; height: number } {
  const several = rows.length > 1;
  const left = several ? Math.min(180, width * 0.3) : 24;
  const [place] = stack(width, [rows.length * 62], 0, left, 40);
  const { unit } = rows[0]!.answer;
  const style = axisStyle(theme) as { axisLabel: object };
  const known = rows.some(({ answer: { truth } }) => truth);
  const entries = [{ name: "found", colour: theme.blue, icon: "rect" }, ...(known ? [{ name: "truth of the lab", colour: theme.vermillion, icon: "diamond" }] : [])];
  const option = {
    grid: [{ ...place, containLabel: false }],
    legend: { top: 0, right: 8, itemWidth: 12, itemHeight: 10, itemGap: 14, selectedMode: false, textStyle: { color: theme.ink, fontSize: 12, fontFamily: FONT }, data: entries.map(({ name, colour, icon }) => ({ name, icon, itemStyle: { color: colour, opacity: 1 } })) },
    xAxis: [{ ...style, ...scaleOf(rows), name: `${property(rows[0]!.answer).toLowerCase()}, ${unit ?? ""}`, nameLocation: "middle", nameGap: 28, splitNumber: 6, axisLabel: { ...style.axisLabel, ...(narrowed(rows) ? { showMinLabel: false } : {}), showMaxLabel: isLog(rows) ? null : false, formatter: (v: number) => String(Number(v.toPrecision(5))) } }],
    yAxis: [{ type: "category", inverse: true, data: rows.map(({ name }) => name), axisLine: { show: false }, axisTick: { show: false }, axisLabel: { show: several, color: theme.ink, fontSize: 12, fontFamily: FONT, width: left - 20, overflow: "break" } }],
    tooltip: tooltip(theme, "item", ({ data }: { data: { row: number } }) => {
      const row = rows[data.row]!;
      const { value, low, high, truth } = row.answer;
      const line = (name: string, v: Num, colour?: string) => (v === null ? [] : [{ name, value: `${figure(v, row.answer)} ${unit ?? ""}`, ...(colour ? { colour } : {}) }]);
      return tip(row.name, [...line("best guess", value, theme.blue), ...line("at least", low), ...line("at most", high), ...line("truth of the lab", truth?.value ?? null, theme.vermillion)]);
    }),
    series: [found(rows, theme), truths(rows, theme)],
  };
  return { option: option as unknown as Option, height: heightOf([place!], 50) };
}

function finding({ answer }: Row): string {
  const range = interval(answer);
  const told = answer.value === null ? range : `${words(answer)}${range && range !== words(answer) ? ` (${range})` : ""}`;
  const truth = answer.truth ? `; by the lab's counters ${withUnit(answer.truth.value, answer.unit ?? "")}` : "";
  return `${property(answer)}: ${told}${answer.conclusive ? "" : ", which is not sure"}${truth}`;
}

/** The answers of runs that ask the same. */
export function answers(runs: RunView[], prefix = ""): Spec | null {
  const rows = shown(runs);
  if (!rows.length) return null;
  const truth = rows.find(({ answer }) => answer.truth)?.answer.truth;
  const about = truth ? ` The diamond is ${rows.length > 1 ? "what the lab's counters say" : truth.says}.` : "";
  const row = ({ name, answer: a }: Row) => [name, a.estimator, figure(a.value, a), figure(a.low, a), figure(a.high, a), a.conclusive ? "yes" : "no", a.truth ? digits(a.truth.value) : null, a.truth?.says ?? null];
  return {
    id: `${prefix}answer`, title: rows.length > 1 ? `${property(rows[0]!.answer)} by ${rows.length} runs` : finding(rows[0]!),
    about: `The stroke is the best guess, the bar reaches from the least to the most that the estimator holds for possible; it is dashed where the estimator came to no end at which it can be believed.${about}`,
    howTo: [
      "A narrow bar is a sure answer, as far as this estimator can tell.",
      "A bar that ends at the edge of the figure is bounded on one side only.",
      ...(truth ? ["A diamond outside the bar means that the estimator was wrong, or that the path was not the same all the time."] : ["What the bar does not hold is what the estimator takes for granted of the path."]),
    ],
    draw: (theme, width) => draw(rows, theme, width), table: () => ({ head: ["run", "estimator", ...["best guess", "at least", "at most"].map((name) => `${name}, ${rows[0]!.answer.unit ?? ""}`), "sure", "truth of the lab", "which is"], rows: rows.map(row) }),
  };
}

export const answer = (run: RunView) => answers([run]);
