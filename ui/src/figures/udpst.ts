// IP-layer capacity: the rate at which IP packets arrived, and what the load added to delays.
import { heightOf, legend, legendGrowth, panelTitle, stack, timeAxis, valueAxis, type Option } from "../chart";
import { numberAt, type Line, type RunView, type UdpstInterval } from "../data";
import type { Table } from "../dom";
import type { Spec } from "../figure";
import { count, digits, mbps, ms } from "../format";
import type { Theme } from "../palette";
import { timeTip } from "../tip";
import { lineSeries } from "./timeline";
import { plural } from "./verdicts";

type Tile = [name: string, value: string, aside: string, to: string];
interface Drawn { name: string; line: Line; colour: string; text: (value: number) => string }

const wayColour = (load: string, theme: Theme) => (load === "up" ? theme.ink : theme.blue);

/** Each sub-interval's rate, from its beginning to its end. */
function steps(intervals: UdpstInterval[]): Line {
  const points = intervals.flatMap(({ t_s, lasted_s, mbps }): [number, number][] => [[t_s - lasted_s, mbps], [t_s, mbps]]);
  return { t_s: points.map(([t]) => t), v: points.map(([, v]) => v), bin_s: null, n: intervals.length };
}

function panels({ udpst }: RunView, theme: Theme): { title: string; height: number; drawn: Drawn[] }[] {
  const { ways } = udpst!;
  const rates = ways.flatMap(({ load, intervals, rate_mbps }): Drawn[] => [
    { name: `trials ${load}`, line: rate_mbps, colour: theme.sky, text: mbps },
    { name: `sub-intervals ${load}`, line: steps(intervals), colour: wayColour(load, theme), text: mbps },
  ]);
  const delays = ways.flatMap(({ load, rtt_ms, owd_ms }): Drawn[] => [
    { name: `round trip ${load}`, line: rtt_ms, colour: theme.orange, text: ms },
    { name: `one way ${load}`, line: owd_ms, colour: theme.purple, text: ms },
  ]);
  const all = [{ title: "IP packets that arrived, Mbit/s", height: 200, drawn: rates }, { title: "Delay above the least, ms", height: 140, drawn: delays }];
  return all.map((panel) => ({ ...panel, drawn: panel.drawn.filter(({ line }) => line.n) })).filter(({ drawn }) => drawn.length);
}

function draw(run: RunView, theme: Theme, width: number): { option: Option; height: number } {
  const made = panels(run, theme);
  const drawn = made.flatMap((panel) => panel.drawn);
  const entries = drawn.map(({ name, colour }) => ({ name, colour }));
  const places = stack(width, made.map(({ height }) => height), 44, 58, 58 + legendGrowth(entries.map(({ name }) => name), width));
  const series = made.flatMap((panel, i) => panel.drawn.map(({ name, line, colour }) => lineSeries(i, name, line, colour)));
  const option = {
    title: made.map(({ title }, i) => panelTitle(title, places[i]!, theme)), legend: legend(theme, entries), grid: places,
    xAxis: made.map((_, i) => timeAxis(i, run.end_s, theme, i === made.length - 1)), yAxis: made.map((_, i) => valueAxis(i, theme, { min: 0 })),
    axisPointer: { link: [{ xAxisIndex: "all" }] }, tooltip: timeTip(theme, (_, i) => drawn[i] ?? null, series), series,
  };
  return { option: option as unknown as Option, height: heightOf(places) };
}

function numbers({ udpst }: RunView): Table {
  const rows = udpst!.ways.flatMap(({ load, intervals }) => intervals.map((one) => [one.t_s.toFixed(2), load, digits(one.mbps), count(one.datagrams), count(one.lost)]));
  return { head: ["end of the sub-interval, s", "load", "IP packets, Mbit/s", "datagrams", "lost"], rows };
}

const found = (run: RunView, figure: string) => ["down", "up"].flatMap((way) => {
  const value = numberAt(run.run.summary, `${way}.${figure}`);
  return value === null ? [] : [{ way, value }];
});

export function udpst(run: RunView): Spec | null {
  if (!run.udpst || !panels(run, {} as Theme).length) return null;
  const told = found(run, "capacity_mbps").map(({ way, value }) => `${mbps(value)} ${way}`);
  return {
    id: "udpst", zoom: true, title: told.length ? `IP-layer capacity: ${told.join(", ")}` : "How many IP packets arrived",
    about: "A load of datagrams grows until delay or loss begins, and is kept there. The capacity is the largest rate of IP packets, headers included, that arrived in one sub-interval (RFC 9097).",
    howTo: [
      "A rate that still rises at the end has not met the path's limit: the capacity may be larger.",
      "The search lets delay grow to between its two thresholds; a path whose delay stays low while the rate does not rise loses packets instead.",
      "Upstream the server counts, and tells delays in whole milliseconds.",
    ],
    draw: (theme, width) => draw(run, theme, width), table: () => numbers(run),
  };
}

export function udpstTiles(run: RunView): Tile[] {
  const spec = udpst(run);
  if (!spec) return [];
  const intervals = (way: string) => plural(numberAt(run.run.summary, `${way}.intervals`) ?? 0, "sub-interval", "sub-intervals");
  const loss = (way: string) => `${digits(numberAt(run.run.summary, `${way}.loss_pct`))} % lost, ${intervals(way)}`;
  return found(run, "capacity_mbps").map(({ way, value }): Tile => [`IP-layer capacity ${way}`, mbps(value), loss(way), spec.id]);
}
