// Trains of probes over time: at which rate they left and arrived, how long probes took, whether the sender kept its gaps.
import { axisStyle, FONT, heightOf, legend, panelTitle, stack, timeAxis, valueAxis, type Option, type Series } from "../chart";
import type { Counts, Line, RunView } from "../data";
import type { Table } from "../dom";
import type { Spec } from "../figure";
import { count, digits, mbps, ms, pct } from "../format";
import type { Theme } from "../palette";
import { timeTip } from "../tip";
import { powers } from "./generic";
import { lineSeries, points, rug } from "./timeline";
import { plural } from "./verdicts";

/** One quantity over time; `symbol` is for points that stand by themselves, without it they are joined. */
interface Drawn { name: string; line: Line; colour: (theme: Theme) => string; symbol?: string }
interface Panel { title: string; drawn: Drawn[]; lost: Counts | null; text: (value: number) => string }

/** Values that lie further apart than this are drawn on a logarithmic axis. */
const WIDE = 20;
const valuesOf = ({ v }: Line) => v.filter((one): one is number => one !== null);

function seriesOf({ name, line, colour, symbol }: Drawn, theme: Theme): Series {
  const paint = colour(theme);
  if (!symbol) return lineSeries(0, name, line, paint);
  const size = line.t_s.length > 300 ? 4 : 7;
  return { type: "scatter", name, data: points(line), symbol, symbolSize: size, itemStyle: { color: paint, opacity: 0.85 }, emphasis: { disabled: true } } as unknown as Series;
}

/** An axis by powers where the range asks for it. */
function axisOf(values: number[], theme: Theme): object {
  const positive = values.filter((v) => v > 0);
  const wide = positive.length > 1 && Math.max(...positive) > WIDE * Math.min(...positive) && positive.length === values.length;
  if (!wide) return valueAxis(0, theme, { min: 0, splitNumber: 4 });
  const label = { color: theme.faint, fontSize: 11, fontFamily: FONT, hideOverlap: true, formatter: (v: number) => (v >= 1_000 ? count(v) : String(Number(v.toPrecision(2)))) };
  return { ...axisStyle(theme), gridIndex: 0, ...powers(positive), axisLabel: label };
}

function draw(run: RunView, { title, drawn, lost, text }: Panel, theme: Theme, width: number): { option: Option; height: number } {
  const [place] = stack(width, [220], 0, 58, 58);
  const filled = drawn.filter(({ line }) => line.v.length);
  const series = [...filled.map((one) => seriesOf(one, theme)), ...(lost?.t_s.length ? [rug(0, "lost", lost.t_s, theme.vermillion, 0)] : [])];
  const entries = [...filled.map(({ name, colour }) => ({ name, colour: colour(theme) })), ...(lost?.t_s.length ? [{ name: "lost", colour: theme.vermillion }] : [])];
  const option = {
    title: [panelTitle(title, place!, theme)], grid: [place], ...(entries.length > 1 ? { legend: legendOf(filled, entries, theme) } : {}),
    xAxis: [timeAxis(0, run.end_s, theme, true)], yAxis: [axisOf(filled.flatMap(({ line }) => valuesOf(line)), theme)],
    tooltip: timeTip(theme, (_, i) => (filled[i] ? { name: filled[i]!.name, text } : null), series), series,
  };
  return { option: option as unknown as Option, height: heightOf([place!]) };
}

/** In the legend points have their shape. */
function legendOf(drawn: Drawn[], entries: { name: string; colour: string }[], theme: Theme): object {
  const made = legend(theme, entries) as { data: object[] };
  if (!drawn.some(({ symbol }) => symbol)) return made;
  return { ...made, itemWidth: 10, itemHeight: 10, data: made.data.map((entry, i) => ({ ...entry, icon: drawn[i]?.symbol ?? "path://M0 0h2v10H0z" })) };
}

const thinned = (line: Line, what: string) => (line.bin_s ? `minimum and maximum of every ${digits(line.bin_s * 1e3)} ms are drawn` : `${what} is drawn`);

/** What the lines have at each moment. */
function rows(drawn: Drawn[], most: number): Table["rows"] {
  const moments = [...new Set(drawn.flatMap(({ line }) => line.t_s))].sort((a, b) => a - b).slice(0, most);
  const at = drawn.map(({ line }) => new Map(line.t_s.map((t, i) => [t, line.v[i] ?? null])));
  return moments.map((t) => [t.toFixed(3), ...at.map((values) => (values.has(t) ? digits(values.get(t)!) : null))]);
}

const tableOf = (unit: string, drawn: Drawn[]) => (): Table => ({ head: ["time, s", ...drawn.map(({ name }) => `${name}, ${unit}`)], rows: rows(drawn, 2_000) });

export function trains(run: RunView): Spec | null {
  const all = run.estimate?.trains;
  if (!all?.n) return null;
  const every: Drawn[] = [
    { name: "planned", line: all.planned_mbps, colour: (t) => t.blue, symbol: "circle" }, { name: "as fast as it left", line: all.left_mbps, colour: (t) => t.purple, symbol: "triangle" },
    { name: "arrived", line: all.arrived_mbps, colour: (t) => t.green, symbol: "diamond" },
  ];
  const drawn = every.filter(({ line }) => line.n);
  if (!drawn.length) return null;
  const lost = all.probes - all.arrived;
  const panel: Panel = { title: "Rate of a train, Mbit/s with IP headers", drawn, lost: all.lost, text: mbps };
  return {
    id: "trains", zoom: true,
    title: lost ? `${count(lost)} of ${plural(all.probes, "probe", "probes")} in ${plural(all.n, "train", "trains")} were lost` : `All ${plural(all.probes, "probe", "probes")} of ${plural(all.n, "train", "trains")} arrived`,
    about: `The octets of a train behind its first packet, over the time from the first to the last; ${thinned(all.arrived_mbps, "each train")}. Strokes at the foot are trains that lost probes.`,
    howTo: [
      "A train whose two marks lie on each other came through as it was sent; where the lower one is what arrived, the path was slower.",
      "Trains that arrive more slowly than they left filled a queue, and those that leave as fast as the host can arrive at the rate of the slowest link, or at less where others came between.",
      "The gaps of a chirp shrink, so its rate is a mean of the rates that it tried.",
    ],
    draw: (theme, width) => draw(run, panel, theme, width), table: tableOf("Mbit/s", drawn),
  };
}

/** Estimators by an even pace or slots: what each probe met. */
export function delaysOverTime(run: RunView): Spec | null {
  const delays = run.estimate?.delays;
  if (!delays?.line_ms.n) return null;
  const { is_round_trip: both, line_ms: line, lost, ms: all } = delays;
  const gone = lost.n.reduce((a, b) => a + b, 0);
  const drawn: Drawn[] = [{ name: both ? "round trip" : "above the least", line, colour: (t) => t.blue }];
  const panel: Panel = { title: both ? "Round trip, ms" : "One-way delay above the least of the run, ms", drawn, lost, text: ms };
  const typical = all ? (both ? `Half of the round trips take at most ${ms(all.p50)}, one in a hundred more than ${ms(all.p99)}` : `Half of the probes wait at most ${ms(all.p50)} longer than the luckiest, one in a hundred more than ${ms(all.p99)}`) : "How long probes took";
  return {
    id: "delays", zoom: true, title: `${typical}${gone ? `; ${pct((gone / (gone + line.n)) * 100)} are lost` : ""}`,
    about: `By when a probe left; ${thinned(line, "each one")}. ${gone ? "Strokes at the foot are probes that were lost; the line is interrupted there." : "None was lost."}${both ? " The time for which the far end kept a probe is part of its round trip." : " Clocks that drift apart let the line slope."}`,
    howTo: [
      "A flat line is a path with empty queues; what stands above it waited in one.",
      "Losses at the top of a hill are those of a full queue, losses without one have another cause.",
    ],
    draw: (theme, width) => draw(run, panel, theme, width), table: tableOf("ms", drawn),
  };
}

export function gaps(run: RunView): Spec | null {
  const all = run.estimate?.trains;
  if (!all?.gap_error_us.n || !all.gap_us) return null;
  const drawn: Drawn[] = [{ name: "worst gap", line: all.gap_error_us, colour: (t) => t.orange, symbol: "circle" }];
  const panel: Panel = { title: "Error of the worst gap of a train, µs", drawn, lost: null, text: (v) => `${digits(v)} µs` };
  return {
    id: "gaps", zoom: true, title: all.gap_us.n > 1 ? `In half of the trains the sender kept each gap within ${digits(all.gap_us.p50)} µs; the worst was wrong by ${digits(all.gap_us.max)} µs` : `The sender kept the gaps of the only train with gaps within ${digits(all.gap_us.max)} µs`,
    about: `What the sender planned between two probes against what it did, by its own clock; ${thinned(all.gap_error_us, "the worst gap of each train")}. A train that leaves as fast as the host can has no gaps to keep.`,
    howTo: [
      "This is the instrument, not the path.",
      "Estimators read rates from gaps: an error is small when it is small against the gap, which is 120 µs for packets of 1500 octets at 100 Mbit/s.",
      "Where it is not, use a host that does less, or --most to send more slowly.",
    ],
    draw: (theme, width) => draw(run, panel, theme, width), table: tableOf("µs", drawn),
  };
}
