// The load streams: who got how much, and what their senders saw.
import { heightOf, legend, panelTitle, shades, stack, tiles, timeAxis, valueAxis, type Option, type Series } from "../chart";
import { numberAt, streamOf, type Flow, type Line, type RunView, type Steps } from "../data";
import { bytes, digits, mbps, ms, pct } from "../format";
import { byClass, classColour, classWords, type Theme } from "../palette";
import type { Spec } from "../figure";
import { timeTip } from "../tip";
import { lineSeries } from "./timeline";

/** Most streams that are drawn one by one in a direction. */
const MOST = 12;

function flowsOf(run: RunView, direction: string): Flow[] {
  const name = (flow: Flow) => streamOf(run, flow.stream)?.class ?? "";
  return run.tcp.flows.filter((flow) => flow.direction === direction).sort((a, b) => byClass(name(a), name(b)) || a.stream - b.stream);
}

const most = (line: Line) => line.v.reduce<number>((a, v) => Math.max(a, v ?? 0), 0);

function label(run: RunView, flow: Flow): string {
  const stream = streamOf(run, flow.stream);
  const families = new Set(run.tcp.flows.map((f) => streamOf(run, f.stream)?.family));
  return `${stream?.class ?? "?"}${families.size > 1 ? ` IPv${stream?.family}` : ""}`;
}

function drawFlows(run: RunView, theme: Theme, width: number): { option: Option; height: number } {
  const directions = ["down", "up"].filter((direction) => flowsOf(run, direction).length);
  const flows = directions.flatMap((direction) => flowsOf(run, direction).slice(0, MOST));
  const perRow = Math.min(width > 640 ? 4 : 2, Math.max(...directions.map((direction) => Math.min(MOST, flowsOf(run, direction).length))));
  // Each direction begins a new row, so that streams above each other are alike.
  let cell = 0;
  const cells = directions.flatMap((direction) => {
    cell = Math.ceil(cell / perRow) * perRow;
    return flowsOf(run, direction).slice(0, MOST).map(() => cell++);
  });
  const all = tiles(width, cell, perRow, 84, { gapX: 38, gapY: 52, left: 44 });
  const places = cells.map((i) => all[i]!);
  const top = (direction: string) => Math.max(...flowsOf(run, direction).map((flow) => most(flow.mbps)));
  const phases = { ...run.phases, discarded: run.phases.discarded };
  const series = flows.flatMap((flow, i): Series[] => {
    const colour = classColour(streamOf(run, flow.stream)?.class ?? "", theme);
    const mean = flow.loaded_mbps;
    const mark = mean === null ? {} : { markLine: { silent: true, symbol: "none", label: { show: false }, lineStyle: { color: theme.ink, width: 1, type: "dotted" }, data: [{ yAxis: mean }] } };
    return [shades(i, phases, theme, false), lineSeries(i, label(run, flow), flow.mbps, colour, mark)];
  });
  const option = {
    title: flows.map((flow, i) => panelTitle(`${flow.direction} ${label(run, flow)}: ${mbps(flow.loaded_mbps)}`, places[i]!, theme)),
    grid: places,
    xAxis: flows.map((_, i) => ({ ...timeAxis(i, run.end_s, theme, false, true), splitNumber: 3 })),
    yAxis: flows.map((flow, i) => valueAxis(i, theme, scale(top(flow.direction)))),
    axisPointer: { link: [{ xAxisIndex: "all" }] },
    tooltip: timeTip(theme, (_, i) => (i % 2 === 1 && flows[(i - 1) / 2] ? { name: `${flows[(i - 1) / 2]!.direction} ${label(run, flows[(i - 1) / 2]!)}`, text: mbps } : null), series),
    series,
  };
  return { option: option as unknown as Option, height: heightOf(places, 30) };
}

/** An axis from 0 to above `value` with about `parts` steps of 1, 2, 2.5 or 5 times a power of ten. */
export function scale(value: number, parts = 3): { min: number; max: number; interval: number } {
  const least = Math.max(value, 1e-6) / parts;
  const power = 10 ** Math.floor(Math.log10(least));
  const interval = power * ([1, 2, 2.5, 5].find((step) => step * power >= least * 0.999) ?? 10);
  return { min: 0, max: Math.ceil((value / interval) * 0.999) * interval || interval, interval };
}

function share(run: RunView, direction: string): string | null {
  const index = numberAt(run.run.summary, `fairness.${direction}`);
  if (index === null) return null;
  return `${direction} ${index.toFixed(2)}`;
}

export function streams(run: RunView): Spec | null {
  if (!run.tcp.flows.length) return null;
  const known = ["down", "up"].flatMap((direction) => share(run, direction) ?? []);
  const worst = Math.min(...["down", "up"].flatMap((direction) => numberAt(run.run.summary, `fairness.${direction}`) ?? []));
  const title = known.length ? `Streams share the path ${worst > 0.95 ? "evenly" : worst > 0.8 ? "fairly evenly" : "unevenly"} (Jain's index ${known.join(", ")})` : "What each load stream carried";
  const many = run.tcp.flows.length > 2 * MOST ? ` The first ${MOST} streams of a direction are drawn; the table has all.` : "";
  return {
    id: "streams", title, zoom: true,
    about: `Mbit/s of payload per 100 ms, one panel a stream, the same scale in a direction; dotted: mean under load.${many}`,
    howTo: [
      "Each panel is one stream of the load, over TCP or QUIC.",
      "Good is the same height everywhere unless a class is meant to have more: CS1 (background) at most 5 % of the bandwidth and yet not starved, EF at most 30 %.",
      "Jain's index is 1 when all have the same and 1/n when one has everything.",
      "A notch with a peak behind it is a lost packet: what came after it is counted when it has been sent again, so a peak may be above the rate of the path.",
    ],
    draw: (theme, width) => drawFlows(run, theme, width),
    table: () => {
      const sum = (direction: string) => run.tcp.flows.filter((flow) => flow.direction === direction).reduce((a, flow) => a + (flow.loaded_mbps ?? 0), 0);
      return {
        head: ["stream", "direction", "class", "IP", "mean under load, Mbit/s", "share", "start slew, ms", "transferred", "retransmitted segments", "congestion control"],
        rows: run.tcp.flows.map((flow) => {
          const stream = streamOf(run, flow.stream);
          return [stream?.name ?? String(flow.stream), flow.direction, stream?.class ?? null, stream?.family ? `IPv${stream.family}` : null, digits(flow.loaded_mbps), flow.loaded_mbps === null ? null : pct((flow.loaded_mbps / sum(flow.direction)) * 100), digits(stream?.slew_ms), bytes(stream?.total_bytes), stream?.retransmits ?? null, stream?.congestion_control ?? null];
        }),
      };
    },
  };
}

const asLine = ({ bin_s, v }: Steps): Line => ({ t_s: v.map((_, i) => (i + 0.5) * bin_s), v, bin_s, n: v.length });

export function internals(run: RunView): Spec | null {
  const flows = run.tcp.flows.filter((flow) => flow.cwnd_segments.n || flow.srtt_ms.n);
  if (!flows.length) return null;
  const quantities: [string, (flow: Flow) => Line, (v: number) => string][] = [
    ["Congestion window, segments", (flow) => flow.cwnd_segments, (v) => `${digits(v)} segments`],
    ["Smoothed round trip of the sender, ms", (flow) => flow.srtt_ms, ms],
    ["Retransmitted segments per second", (flow) => asLine(flow.retransmits_per_s), (v) => `${digits(v)} 1/s`],
  ];
  const directions = ["down", "up"].filter((direction) => flows.some((flow) => flow.direction === direction));
  const total = run.streams.reduce((a, stream) => a + (stream.retransmits ?? 0), 0);
  const draw = (theme: Theme, width: number) => {
    const columns = width > 700 ? directions.length : 1;
    const cells = columns === directions.length ? quantities.flatMap((q) => directions.map((d) => ({ q, d }))) : directions.flatMap((d) => quantities.map((q) => ({ q, d })));
    const places = tiles(width, cells.length, columns, 110, { top: 58, gapX: 56, gapY: 40 });
    const named: ({ name: string; text: (v: number) => string } | null)[] = [];
    const series = cells.flatMap(({ q, d }, i) => {
      named.push(null);
      const lines = flows.filter((flow) => flow.direction === d).map((flow) => {
        const stream = streamOf(run, flow.stream);
        named.push({ name: `${d} ${label(run, flow)}`, text: q[2] });
        return lineSeries(i, classWords(stream?.class ?? "?"), q[1](flow), classColour(stream?.class ?? "", theme));
      });
      return [shades(i, run.phases, theme, false), ...lines];
    });
    const classes = [...new Set(flows.map((flow) => streamOf(run, flow.stream)?.class ?? "?"))].sort(byClass);
    const option = {
      title: cells.map(({ q, d }, i) => panelTitle(`${d}: ${q[0]}`, places[i]!, theme)),
      legend: legend(theme, classes.map((name) => ({ name: classWords(name), colour: classColour(name, theme) }))),
      grid: places,
      xAxis: cells.map((_, i) => timeAxis(i, run.end_s, theme, i >= cells.length - columns)),
      yAxis: cells.map((_, i) => valueAxis(i, theme, { min: 0 })),
      tooltip: timeTip(theme, (_, i) => named[i] ?? null, series),
      series,
    };
    return { option: option as unknown as Option, height: heightOf(places) };
  };
  return {
    id: "tcp", zoom: true, title: total ? `${total.toLocaleString("en")} segments were sent again` : "What the senders thought of the path",
    about: "What each sender said every 100 ms (TCP_INFO, or the statistics of its QUIC connection): minimum and maximum per bin. Retransmissions per second.",
    howTo: [
      "The congestion window is how much a sender lets be on its way; the smoothed round trip is how long it waits for acknowledgements.",
      "A saw is a loss-based control that fills the queue until something is dropped; every tooth ends in retransmissions.",
      "A round trip much longer than the idle one is the sender's own queue.",
    ],
    draw,
    table: () => ({
      head: ["stream", "direction", "largest window, segments", "longest smoothed round trip, ms", "retransmitted segments"],
      rows: flows.map((flow) => [streamOf(run, flow.stream)?.name ?? "", flow.direction, most(flow.cwnd_segments), digits(most(flow.srtt_ms)), streamOf(run, flow.stream)?.retransmits ?? null]),
    }),
  };
}

/** Processors of both hosts. */
export function cpu(run: RunView): Spec | null {
  if (!run.cpu.length) return null;
  const kinds = [["busy, all processors", "busy_pct"], ["the busiest processor", "max_pct"], ["stolen by the hypervisor", "steal_pct"]] as const;
  const highest = Math.max(...run.cpu.map((host) => most(host.busy_pct)));
  const draw = (theme: Theme, width: number) => {
    const colours = [theme.ink, theme.orange, theme.purple];
    const places = width > 700 ? tiles(width, run.cpu.length, Math.min(2, run.cpu.length), 120, { top: 58 }) : stack(width, run.cpu.map(() => 110), 46, 52, 58);
    const series = run.cpu.flatMap((host, i) => [shades(i, run.phases, theme, false), ...kinds.map(([name, key], k) => lineSeries(i, name, host[key], colours[k]!))]);
    const option = {
      title: run.cpu.map((host, i) => panelTitle(`${host.host}: processor time, %`, places[i]!, theme)),
      legend: legend(theme, kinds.map(([name], k) => ({ name, colour: colours[k]! }))),
      grid: places,
      xAxis: run.cpu.map((_, i) => timeAxis(i, run.end_s, theme, true)),
      yAxis: run.cpu.map((_, i) => valueAxis(i, theme, { min: 0, max: 100, interval: 25 })),
      tooltip: timeTip(theme, (_, i) => (i % 4 && run.cpu[Math.floor(i / 4)] ? { name: `${run.cpu[Math.floor(i / 4)]!.host}: ${kinds[(i % 4) - 1]?.[0]}`, text: pct } : null), series),
      series,
    };
    return { option: option as unknown as Option, height: heightOf(places) };
  };
  return {
    id: "cpu", zoom: true, title: highest >= 95 ? "A host had no processor time left: the figures may be the machine's" : `The hosts had processor time to spare (busiest second ${pct(highest)})`,
    about: "Once a second, of what all processors of the host have.",
    howTo: ["A host that is busy cannot keep the path full nor look at the clock in time.", "Below about 80 % the figures are the path's.", "A run whose host was 95 % busy under load is marked INVALID."],
    draw,
    table: () => ({
      head: ["host", "mean, %", "busiest second, %", "stolen, %"],
      rows: (run.run.instrument?.cpu ?? []).map((c: { host: string; mean_pct: number; max_pct: number; steal_pct: number }) => [c.host, digits(c.mean_pct), digits(c.max_pct), digits(c.steal_pct)]),
    }),
  };
}
