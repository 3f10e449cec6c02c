// Responsiveness: what the load carried, how long requests took meanwhile, and the round trips a minute that follow.
import { heightOf, legend, legendGrowth, panelTitle, stack, timeAxis, valueAxis, type Option, type Series } from "../chart";
import { numberAt, type Line, type Num, type RpmInterval, type RpmStep, type RunView } from "../data";
import { h, table, type Table } from "../dom";
import type { Spec } from "../figure";
import { count, digits, mbps, ms } from "../format";
import type { Theme } from "../palette";
import { timeTip } from "../tip";
import { lineSeries, points, rug } from "./timeline";
import { plural } from "./verdicts";

type Tile = [name: string, value: string, aside: string, to: string];
interface Drawn { name: string; line: Line; colour: string; text: (value: number) => string; dots?: boolean }

const STEPS: Record<RpmStep["name"], string> = { tcp: "TCP handshake", tls: "TLS handshake", http: "HTTP, new connection", self: "HTTP, loaded connection" };
const LOADS = ["idle", "down", "up"] as const;

const isQuic = ({ run }: RunView) => run.plan?.http === "h3";
/** By QUIC the handshake of TLS is part of its own. */
const stepWords = (run: RunView, name: RpmStep["name"]) => (name === "tls" && isQuic(run) ? "QUIC handshake" : STEPS[name]);

const wayColour = (load: string, theme: Theme) => (load === "up" ? theme.ink : theme.blue);
const stepColour = (name: RpmStep["name"], theme: Theme) => ({ tcp: theme.sky, tls: theme.purple, http: theme.green, self: theme.orange })[name];
const rounds = (value: Num | undefined) => `${digits(value)} RPM`;

/** Seconds between the points of what holds for an interval: hovering finds the nearest one. */
const HOVER_S = 0.5;

/** What was carried, from the beginning of each interval to its end. */
function carried(intervals: RpmInterval[]): Line {
  const points = intervals.flatMap(({ t_s, lasted_s, carried_mbps }) => {
    const n = Math.max(1, Math.ceil(lasted_s / HOVER_S));
    return Array.from({ length: n + 1 }, (_, i): [number, number] => [t_s - lasted_s * (1 - i / n), carried_mbps]);
  });
  return { t_s: points.map(([t]) => t), v: points.map(([, v]) => v), bin_s: null, n: intervals.length };
}

function told(intervals: RpmInterval[]): Line {
  const known = intervals.filter(({ rpm }) => rpm !== null);
  return { t_s: known.map(({ t_s }) => t_s), v: known.map(({ rpm }) => rpm), bin_s: null, n: known.length };
}

function panels(run: RunView, theme: Theme): { title: string; height: number; drawn: Drawn[] }[] {
  const { ways, steps } = run.rpm!;
  const loads = ways.map(({ load, intervals }): Drawn => ({ name: `load ${load}`, line: carried(intervals), colour: wayColour(load, theme), text: mbps }));
  const rounds = ways.map(({ load, intervals }): Drawn => ({ name: `RPM ${load}`, line: told(intervals), colour: wayColour(load, theme), text: (v) => digits(v), dots: true }));
  const ofSteps = steps.map(({ name, line_ms }): Drawn => ({ name: stepWords(run, name), line: line_ms, colour: stepColour(name, theme), text: ms }));
  const all = [
    { title: "Carried in each interval, Mbit/s of HTTP payload", height: 120, drawn: loads },
    { title: "Time of each step of a request, ms", height: 220, drawn: ofSteps },
    { title: "Round trips a minute, once the goodput has settled", height: 120, drawn: rounds },
  ];
  return all.map((panel) => ({ ...panel, drawn: panel.drawn.filter(({ line }) => line.n) })).filter(({ drawn }) => drawn.length);
}

function seriesOf(panel: number, { name, line, colour, dots }: Drawn): Series {
  if (!dots) return lineSeries(panel, name, line, colour);
  return { type: "scatter", name, xAxisIndex: panel, yAxisIndex: panel, data: points(line), symbolSize: 7, itemStyle: { color: colour }, emphasis: { disabled: true } } as unknown as Series;
}

function draw(run: RunView, theme: Theme, width: number): { option: Option; height: number } {
  const made = panels(run, theme);
  const failed = run.rpm!.failed.t_s;
  const entries = [...new Map(made.flatMap(({ drawn }) => drawn).filter(({ dots }) => !dots).map(({ name, colour }) => [name, { name, colour }])).values(), ...(failed.length ? [{ name: "failed", colour: theme.vermillion }] : [])];
  const places = stack(width, made.map(({ height }) => height), 44, 58, 58 + legendGrowth(entries.map(({ name }) => name), width));
  const drawn = made.flatMap((panel) => panel.drawn);
  const lines = made.flatMap((panel, i) => panel.drawn.map((one) => seriesOf(i, one)));
  const times = made.findIndex((panel) => panel.drawn.some(({ text }) => text === ms));
  const series = [...lines, ...(failed.length && times >= 0 ? [rug(times, "failed", failed, theme.vermillion, 0)] : [])];
  const option = {
    title: made.map(({ title }, i) => panelTitle(title, places[i]!, theme)), legend: legend(theme, entries), grid: places,
    xAxis: made.map((_, i) => timeAxis(i, run.end_s, theme, i === made.length - 1)), yAxis: made.map((_, i) => valueAxis(i, theme, { min: 0 })),
    axisPointer: { link: [{ xAxisIndex: "all" }] }, tooltip: timeTip(theme, (_, i) => drawn[i] ?? null, series), series,
  };
  return { option: option as unknown as Option, height: heightOf(places) };
}

function numbers({ rpm }: RunView): Table {
  const rows = rpm!.ways.flatMap(({ load, intervals }) => intervals.map((one) => [one.t_s.toFixed(2), load, digits(one.carried_mbps), count(one.connections), digits(one.rpm)]));
  return { head: ["end of the interval, s", "load", "carried, Mbit/s", "connections", "RPM"], rows };
}

const loaded = (run: RunView, figure: string) => ["down", "up"].flatMap((way) => {
  const value = numberAt(run.run.summary, `${way}.${figure}`);
  return value === null ? [] : [{ way, value }];
});

export function rpm(run: RunView): Spec | null {
  if (!run.rpm || !panels(run, {} as Theme).length) return null;
  const [found, idle] = [loaded(run, "rpm"), numberAt(run.run.summary, "idle_rpm")];
  const title = found.length ? `${found.map(({ way, value }) => `${rounds(value)} while it loads ${way}`).join(", ")}${idle === null ? "" : `; ${digits(idle)} idle`}` : "What the load carried, and how long requests took";
  return {
    id: "rpm", zoom: true, title,
    about: "Every interval one more connection loads the path. Requests for one octet leave meanwhile, on connections of their own and on those that carry the load. Round trips a minute (RPM) are those of the last four intervals (draft-ietf-ippm-responsiveness-09).",
    howTo: [
      "Times that rise with the load are those of a queue; where the load carries no more from one interval to the next, the path is full.",
      "The lines of new connections are what others on this path feel; the loaded connection's adds what waits in the sender's own buffers.",
      "Times that stay low while the path is full are those of a managed queue.",
    ],
    draw: (theme, width) => draw(run, theme, width), table: () => numbers(run),
  };
}

/** What each step took beside each load. */
export function requests(run: RunView): Spec | null {
  const steps = run.rpm?.steps ?? [];
  const rows = steps.flatMap((step) => LOADS.flatMap((load) => {
    const f = step[load];
    return f ? [[stepWords(run, step.name), load, count(f.n), ...[f.p5, f.p50, f.p95, f.p99, f.max].map(digits)]] : [];
  }));
  if (!rows.length) return null;
  const failed = run.rpm!.failed.n.reduce((a, b) => a + b, 0);
  const answered = (load: (typeof LOADS)[number]) => steps.find(({ name }) => name === "http")?.[load]?.p50;
  const [idle, slowest] = [answered("idle"), Math.max(...(["down", "up"] as const).flatMap((load) => answered(load) ?? []))];
  const title = idle !== undefined && Number.isFinite(slowest) ? `A request on a new connection is answered in ${ms(idle)} idle and ${ms(slowest)} under load` : "How long the steps of a request take";
  return {
    id: "requests", title: `${title}${failed ? `; ${plural(failed, "request", "requests")} came to nothing` : ""}`,
    about: "All requests of the run, medians and tails. RPM is made of the last intervals' means without their slowest 5 %, so it does not follow from these figures alone.",
    howTo: [isQuic(run) ? "A new connection waits for the sum of its two steps." : "A new connection waits for the sum of its three steps; the time of a TLS handshake is given per round trip.", "On an idle path each step is one round trip and the work of both ends."],
    html: () => h("div", { class: "below" }, table({ head: ["step", "load", "n", "p5, ms", "median, ms", "p95, ms", "p99, ms", "max, ms"], rows }, "Steps of a request")),
  };
}

export function rpmTiles(run: RunView): Tile[] {
  if (!run.rpm) return [];
  const s = run.run.summary;
  const idle = numberAt(s, "idle_rpm");
  const words = (way: string) => `confidence ${String(s?.[way]?.rpm_confidence ?? "not told")}`;
  const tiles: Tile[] = [
    ...loaded(run, "rpm").map(({ way, value }): Tile => [`RPM, load ${way}`, digits(value), words(way), "rpm"]),
    ...(idle === null ? [] : [["RPM, idle", digits(idle), "by new connections", "requests"] as Tile]),
    ...loaded(run, "goodput_mbps").map(({ way, value }): Tile => [`Goodput ${way}`, mbps(value), plural(numberAt(s, `${way}.connections`) ?? 0, "connection", "connections"), "rpm"]),
  ];
  const there = [rpm(run), requests(run)].flatMap((spec) => (spec ? [spec.id] : []));
  return there.length ? tiles.map(([name, value, aside, to]): Tile => [name, value, aside, there.includes(to) ? to : there[0]!]) : [];
}
