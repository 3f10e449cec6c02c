// The time-sequence graph: each segment where and when it was sent, again, acknowledged.
//
// A transfer has tens of thousands of segments, a drawing a thousand columns of pixels. So each kind of mark is one path,
// made anew for the stretch of time that is shown: strokes in the same column that touch become one, marks in the same
// place become one. Nothing that can be seen is left out at any zoom, and nothing that cannot be seen costs time.
import { axisStyle, heightOf, legend, legendGrowth, panelTitle, stack, transferAxis, valueAxis, type Option, type Series } from "../chart";
import type { Marks, RunView, Strokes } from "../data";
import { count, digits, list } from "../format";
import type { Theme } from "../palette";
import type { Spec } from "../figure";
import type { Table } from "../dom";
import { lastAt, tip, tooltip, type TipLine } from "../tip";
import { cross, diamond, markPath, pathSeries, within, type Numbers, type Place, type Points } from "./paths";
import { name, shown, summed, type Shown } from "./transfers";

interface Bars { t: Numbers; low: Numbers; high: Numbers }
interface Decoded { sent: Bars; sacks: Bars; again: Points; lost: Points | null; acks: Points; edge: Points; end: number; top: number }

function bars({ t_us, first, more }: Strokes): Bars {
  const low = summed(first);
  return { t: summed(t_us, 1e-6), low, high: low.map((v, i) => v + (more[i] ?? 0) + 1) };
}

const points = ({ t_us, seq }: Marks): Points => ({ t: summed(t_us, 1e-6), y: summed(seq).map((v) => v + 0.5) });

function decode({ course }: Shown): Decoded | null {
  const { sequence } = course;
  if (!sequence) return null;
  const acks = { t: summed(sequence.acks.t_us, 1e-6), y: summed(sequence.acks.ack) };
  const edge = { t: acks.t, y: acks.y.map((v, i) => v + (sequence.acks.window[i] ?? NaN)) };
  const sent = bars(sequence.sent);
  const last = (numbers: Float64Array | Numbers) => numbers[numbers.length - 1] ?? 0;
  return {
    sent, acks, edge, sacks: bars(sequence.sacks), again: points(sequence.again), lost: sequence.lost && points(sequence.lost),
    end: Math.max(last(sent.t), last(acks.t), 0.01), top: Math.max(last(acks.y), last(sent.high), 1),
  };
}

const px = (value: number) => value.toFixed(1);

function strokePath({ t, low, high }: Bars, place: Place): string {
  const [first, last] = within(t, place);
  let [path, column, top, bottom] = ["", NaN, 0, 0];
  const flush = () => {
    if (!Number.isNaN(column)) path += `M${px(column)} ${px(bottom)}V${px(Math.min(top, bottom - 1.6))}`;
  };
  for (let i = first; i <= last; i++) {
    const x = Math.round(place.x(t[i] ?? 0) * 2) / 2;
    const [up, down] = [place.y(high[i] ?? 0), place.y(low[i] ?? 0)];
    if (x === column && up <= bottom + 1 && down >= top - 1) [top, bottom] = [Math.min(top, up), Math.max(bottom, down)];
    else {
      flush();
      [column, top, bottom] = [x, up, down];
    }
  }
  flush();
  return path;
}

function stairPath({ t, y }: Points, place: Place): string {
  const [first, last] = within(t, place);
  let path = "";
  let column = NaN;
  for (let i = first; i <= last; i++) {
    const [x, value] = [Math.round(place.x(t[i] ?? 0) * 2) / 2, y[i] ?? NaN];
    if (Number.isNaN(value)) continue;
    // Of a column only the first and the last matter: a stair does not turn back.
    const next = i < last ? Math.round(place.x(t[i + 1] ?? 0) * 2) / 2 : NaN;
    if (x === column && x === next) continue;
    path += path ? `H${px(x)}V${px(place.y(value))}` : `M${px(x)} ${px(place.y(value))}`;
    column = x;
  }
  return path;
}

/** Draws nothing: the instants at which there is something to be told, those of single packets all, of others the last in a bin. */
function instants({ sent, again, acks, lost, end }: Decoded): Series {
  const bins = new Map<number, number>();
  for (const { t } of [acks, sent]) for (let i = 0; i < t.length; i++) bins.set(Math.floor(((t[i] ?? 0) / end) * 15_000), t[i] ?? 0);
  const all = [...bins.values(), ...Array.from(again.t), ...Array.from(lost?.t ?? [])].sort((a, b) => a - b);
  return { type: "custom", name: "", data: all.map((t) => [t, 0]), renderItem: () => null } as unknown as Series;
}

interface Kind { name: string; colour: string; series: Series }

function kinds(decoded: Decoded, theme: Theme): Kind[] {
  const one = (name: string, colour: string, style: object, make: (place: Place) => string) => ({ name, colour, series: pathSeries(name, colour, style, make) });
  const { sent, acks, edge, sacks, again, lost, top } = decoded;
  // A window that never comes near is no limit, and would only be in the legend.
  const isNear = Array.from(edge.y).some((v, i) => v < Math.max(top * 1.04, (acks.y[i] ?? 0) + top / 2));
  const all = [
    ...(isNear ? [one("window's end", theme.orange, { lineDash: [2, 2] }, (place: Place) => stairPath(edge, place))] : []),
    one("acknowledged", theme.green, { lineWidth: 1.2 }, (place) => stairPath(acks, place)),
    one("sent", theme.blue, { lineWidth: 1.4 }, (place) => strokePath(sent, place)),
    one("SACK", theme.purple, { lineWidth: 1.2, opacity: 0.8 }, (place) => strokePath(sacks, place)),
    one("sent again", theme.vermillion, { fill: theme.vermillion, lineWidth: 0.4 }, (place) => markPath(again, place, diamond)),
  ];
  return lost ? [...all, one("never arrived", theme.ink, { lineWidth: 1.6 }, (place) => markPath(lost, place, cross))] : all;
}

/** What is nearest in time to `t`, not farther than `far`. */
function nearest({ t }: { t: Numbers }, at: number, far: number): number | null {
  const i = lastAt(t, at, (k) => t[k] ?? 0);
  const later = (t[i + 1] ?? Infinity) - at < at - (t[i] ?? -Infinity);
  const found = later ? i + 1 : i;
  return Math.abs((t[found] ?? Infinity) - at) <= far ? found : null;
}

function hover(decoded: Decoded, at: number, far: number, theme: Theme): string {
  const { sent, acks, edge, again, lost, sacks } = decoded;
  const lines: TipLine[] = [];
  const range = (low: number, high: number) => (high - low > 1 ? `segments ${count(low)} to ${count(high - 1)}` : `segment ${count(low)}`);
  const told = (name: string, colour: string, marks: { t: Numbers }, text: (i: number) => string) => {
    const i = nearest(marks, at, far);
    if (i !== null) lines.push({ colour, name, value: text(i) });
  };
  told("sent", theme.blue, sent, (i) => range(sent.low[i]!, sent.high[i]!));
  told("sent again", theme.vermillion, again, (i) => `segment ${count(Math.floor(again.y[i]!))}`);
  if (lost) told("never arrived", theme.ink, lost, (i) => `segment ${count(Math.floor(lost.y[i]!))}`);
  const i = lastAt(acks.t, at, (k) => acks.t[k] ?? 0);
  if (i >= 0) lines.push({ colour: theme.green, name: "acknowledged below", value: `segment ${count(acks.y[i]!)}` });
  told("SACK", theme.purple, sacks, (k) => range(sacks.low[k]!, sacks.high[k]!));
  if (i >= 0 && Number.isFinite(edge.y[i])) lines.push({ colour: theme.orange, name: "receiver has room for", value: `${count(edge.y[i]! - acks.y[i]!)} segments` });
  return tip(`${at.toFixed(far < 0.01 ? 4 : 3)} s`, lines);
}

/** The numbers that are drawn in a stretch of time, with a little room: what the vertical axis is to show. */
function span({ sent, acks, again }: Decoded, from: number, to: number): { min: number; max: number } {
  let [low, high] = [Infinity, -Infinity];
  const take = (t: Numbers, bottom: Numbers, top: Numbers) => {
    for (let i = lastAt(t, from, (i) => t[i] ?? 0) + 1; i < t.length && (t[i] ?? 0) <= to; i++) [low, high] = [Math.min(low, bottom[i]!), Math.max(high, top[i]!)];
  };
  take(sent.t, sent.low, sent.high);
  take(again.t, again.y, again.y);
  take(acks.t, acks.y, acks.y);
  // A stair goes on from before.
  const before = acks.y[lastAt(acks.t, from, (i) => acks.t[i] ?? 0)];
  if (before !== undefined) [low, high] = [Math.min(low, before), Math.max(high, before)];
  if (low > high) return { min: 0, max: 1 };
  const room = Math.max(2, (high - low) * 0.04);
  return { min: Math.max(0, Math.floor(low - room)), max: Math.ceil(high + room) };
}

function draw(decoded: Decoded, theme: Theme, width: number, stretch: () => [number, number]): { option: Option; height: number } {
  const made = kinds(decoded, theme);
  const places = stack(width, [Math.min(430, Math.max(300, width * 0.44))], 0, 66, 58 + legendGrowth(made.map(({ name }) => name), width));
  const end = decoded.end * 1.01;
  const y = span(decoded, 0, end);
  const option = {
    title: [panelTitle("Segment number", places[0]!, theme)],
    legend: legend(theme, made.map(({ name, colour }) => ({ name, colour }))), grid: places,
    xAxis: [transferAxis(0, end, theme, true)],
    yAxis: [valueAxis(0, theme, { ...y, splitNumber: 5, axisLabel: { ...(axisStyle(theme) as any).axisLabel, showMaxLabel: false, showMinLabel: y.min === 0 } })],
    tooltip: tooltip(theme, "axis", (given: { axisValue: number }[]) => {
      const [from, to] = stretch();
      return hover(decoded, Number(given[0]?.axisValue ?? 0), ((to - from) / 100) * end * 0.006, theme);
    }),
    series: [instants(decoded), ...made.map(({ series }) => series)],
  };
  return { option: option as unknown as Option, height: heightOf(places) };
}

/** What of a long transfer the record has. */
function kept(all: Shown[]): string {
  const cut = all.flatMap((one) => {
    const [end, seconds] = [decode(one)?.end ?? 0, one.transfer.seconds ?? 0];
    return end < seconds * 0.97 ? [`${digits(end)} of ${digits(seconds)} s of transfer ${one.transfer.transfer}`] : [];
  });
  return cut.length ? ` The record has the packets of the first ${list(cut)}.` : "";
}

function finding({ transfer }: Shown): string {
  const { segments, retransmits, timeouts } = transfer;
  if (!segments) return "What was sent and acknowledged, segment by segment";
  const again = retransmits ? `${count(retransmits)} ${retransmits === 1 ? "is" : "are"} sent again` : "none is sent again";
  const waits = timeouts ? `, and the sender waits for ${timeouts === 1 ? "a timeout" : `${count(timeouts)} timeouts`}` : "";
  return `Of ${count(segments)} segments ${again}${waits}`;
}

function numbers(all: Shown[]): Table {
  const rows = all.map(({ transfer, course }) => {
    const s = course.sequence;
    return [name(transfer), s?.end ?? null, s?.sent.n ?? null, s?.again.n ?? null, s?.lost?.n ?? null, s?.acks.n ?? null, s?.sacks.n ?? null, s?.sent.bin_s ? digits(s.sent.bin_s * 1e3) : "none"];
  });
  return { head: ["transfer", "as seen by", "segments sent first", "packets sent again", "packets that never arrived", "acknowledgements", "SACK blocks with news", "joined within, ms"], rows };
}

export function sequence(run: RunView): Spec | null {
  const all = shown(run).filter(({ course }) => course.sequence);
  const first = all[0];
  if (!first) return null;
  let decoded = decode(first)!;
  const bin = Math.max(0, ...all.map(({ course }) => course.sequence?.sent.bin_s ?? 0));
  const joined = bin ? ` Bursts within ${digits(bin * 1e3)} ms are one stroke; packets sent again are never joined.` : "";
  return {
    id: "sequence", zoom: true, title: finding(first),
    about: `Every packet at the number of its segment, as the ${first.course.sequence?.end} saw it.${joined}${kept(all)} The vertical axis follows the stretch of time that is shown.`,
    howTo: [
      "Blue strokes are segments that are sent, the green stair below them what is acknowledged: from one to the other it is one round trip to the right, and upwards what is in the network.",
      "A transfer in good order is two parallel lines that grow steeper until the path is full.",
      "Diamonds are segments that are sent again, crosses packets that never arrived, purple strokes what the receiver has beyond a gap; where the strokes touch the dotted line, the receiver's window is the limit and not the network.",
      "Drag over a loss to see its repair packet by packet.",
    ],
    follow: (from, to) => span(decoded, (from / 100) * decoded.end * 1.01, (to / 100) * decoded.end * 1.01),
    draw: (theme, width, stretch) => draw(decoded, theme, width, stretch), table: () => numbers(all),
    ...(all.length > 1 ? { choice: { label: "Transfer", options: all.map(({ transfer }) => `${name(transfer)}${transfer.retransmits ? `, ${count(transfer.retransmits)} sent again` : ""}`), choose: (i: number) => {
      decoded = decode(all[i]!) ?? decoded;
      return finding(all[i]!);
    } } } : {}),
  };
}
