// The path itself: hop by hop, its marks, and in a lab the truth of its queues.
import { axisStyle, FONT, heightOf, legend, panelTitle, shades, stack, tiles, timeAxis, valueAxis, type Option, type Series } from "../chart";
import { at, numberAt, type HopView, type Line, type Link, type Mark, type RunView, type Steps, type Trace } from "../data";
import { digits, mbps, ms, pct } from "../format";
import { h } from "../dom";
import { byClass, type Theme } from "../palette";
import type { Spec } from "../figure";
import { timeTip, tip, tooltip } from "../tip";
import { lineSeries } from "./timeline";
import { testShades } from "./verdicts";

const from = (trace: Trace) => (trace.direction === "up" ? "from the client" : "from the server");

function bottleneck(run: RunView, direction: string): number | null {
  return numberAt(run.run.summary, `bottleneck.${direction}.hop`);
}

function hopSeries(panel: number, trace: Trace, phase: "idle" | "loaded", theme: Theme): Series[] {
  const colour = phase === "idle" ? theme.blue : theme.vermillion;
  const x = (hop: HopView) => trace.hops.indexOf(hop);
  const known = trace.hops.filter((hop) => hop[phase]);
  const bars = {
    type: "custom", name: phase, xAxisIndex: panel, yAxisIndex: panel, silent: true, tooltip: { show: false }, data: known.map((hop) => [x(hop), hop[phase]!.p5, hop[phase]!.p95]), encode: { x: 0, y: [1, 2] },
    renderItem: (_: any, api: any) => {
      const [px, low] = api.coord([api.value(0), api.value(1)]);
      const high = api.coord([api.value(0), api.value(2)])[1];
      const shift = phase === "idle" ? -5 : 5;
      return { type: "line", shape: { x1: px + shift, y1: low, x2: px + shift, y2: high }, style: { stroke: colour, lineWidth: 3, opacity: 0.35 } };
    },
  } as unknown as Series;
  const line = { type: "line", name: phase, xAxisIndex: panel, yAxisIndex: panel, data: trace.hops.map((hop) => hop[phase]?.p50 ?? null), connectNulls: true, symbol: "circle", symbolSize: 6, lineStyle: { color: colour, width: 1.8, type: phase === "idle" ? [5, 3] : "solid" }, itemStyle: { color: colour } } as unknown as Series;
  return [bars, line];
}

function markBottleneck(run: RunView, panel: number, trace: Trace, theme: Theme): Series {
  const hop = bottleneck(run, trace.direction);
  const index = trace.hops.findIndex(({ ttl }) => ttl === hop);
  const data = index < 0 ? [] : [{ xAxis: index, label: { show: false } }];
  return { type: "line", xAxisIndex: panel, yAxisIndex: panel, data: [], silent: true, markLine: { silent: true, symbol: "none", lineStyle: { color: theme.ink, type: "dotted", width: 1.2 }, data } } as unknown as Series;
}

function drawHops(run: RunView, theme: Theme, width: number): { option: Option; height: number } {
  const columns = width > 700 ? run.hops.length : 1;
  const places = tiles(width, run.hops.length, columns, 190, { top: 58, gapY: 92, gapX: 60 });
  const option = {
    title: run.hops.map((trace, i) => panelTitle(`Round trip to each hop ${from(trace)}, ms`, places[i]!, theme)),
    legend: { ...legend(theme, [{ name: "idle", colour: theme.blue, dash: true }, { name: "loaded", colour: theme.vermillion }]) },
    grid: places,
    xAxis: run.hops.map((trace, i) => ({ ...axisStyle(theme), type: "category", gridIndex: i, data: trace.hops.map((hop) => `${hop.ttl}\n${shorten(hop.addresses[0] ?? "silent")}${hop.ttl === bottleneck(run, trace.direction) ? "\n▲ bottleneck" : ""}`), splitLine: { show: false }, axisLabel: { color: theme.faint, fontSize: 10, lineHeight: 13, fontFamily: FONT, interval: 0, rotate: trace.hops.length * 74 > (places[i]?.width ?? 0) ? 35 : 0 } })),
    yAxis: run.hops.map((_, i) => valueAxis(i, theme, { min: 0, splitNumber: 4 })),
    tooltip: tooltip(theme, "axis", (given: { dataIndex: number; axisIndex: number; seriesName: string; color: string }[]) => {
      const first = given[0];
      const hop = run.hops[first?.axisIndex ?? 0]?.hops[first?.dataIndex ?? -1];
      if (!hop) return "";
      const line = (phase: "idle" | "loaded") => (hop[phase] ? [{ colour: phase === "idle" ? theme.blue : theme.vermillion, name: `${phase}: 5 % / median / 95 %`, value: `${digits(hop[phase]!.p5)} / ${digits(hop[phase]!.p50)} / ${digits(hop[phase]!.p95)} ms` }] : []);
      return tip(`hop ${hop.ttl}: ${hop.addresses.join(", ") || "nobody answered"}`, [...line("idle"), ...line("loaded"), { name: "unanswered", value: pct((1 - hop.answered / Math.max(1, hop.asked)) * 100) }]);
    }),
    series: run.hops.flatMap((trace, i) => [...hopSeries(i, trace, "idle", theme), ...hopSeries(i, trace, "loaded", theme), markBottleneck(run, i, trace, theme)]),
  };
  return { option: option as unknown as Option, height: heightOf(places, 58) };
}

export const shorten = (address: string) => (address.length > 15 ? `${address.slice(0, 7)}…${address.slice(-6)}` : address);

function drawStrip(run: RunView, theme: Theme, width: number): { option: Option; height: number } {
  const places = stack(width, run.hops.map((trace) => Math.max(40, trace.hops.length * 20)), 50, 110, 56);
  const highest = Math.max(...run.hops.flatMap((trace) => trace.hops.flatMap((hop) => hop.strip_ms.map((v) => v ?? 0))));
  const columns = (trace: Trace) => Math.max(...trace.hops.map((hop) => hop.strip_ms.length));
  const series = run.hops.map((trace, i): Series => ({
    type: "heatmap", name: from(trace), xAxisIndex: i, yAxisIndex: i, progressive: 0, itemStyle: { borderWidth: 0 },
    data: trace.hops.flatMap((hop, y) => hop.strip_ms.map((v, x) => [x, y, v === null ? "-" : v])),
  } as unknown as Series));
  const option = {
    title: run.hops.map((trace, i) => panelTitle(`Longest round trip ${from(trace)}, ms, in ${digits(trace.bin_s)} s`, places[i]!, theme)),
    grid: places,
    xAxis: run.hops.map((trace, i) => ({ ...axisStyle(theme), type: "category", gridIndex: i, data: Array.from({ length: columns(trace) }, (_, x) => (x * trace.bin_s).toFixed(0)), splitLine: { show: false }, axisLabel: { color: theme.faint, fontSize: 11, fontFamily: FONT, interval: Math.ceil(columns(trace) / 12) - 1 }, name: i === run.hops.length - 1 ? "time since the run's start, s" : "", nameLocation: "middle", nameGap: 26, axisTick: { show: false } })),
    yAxis: run.hops.map((trace, i) => ({ ...axisStyle(theme), type: "category", gridIndex: i, inverse: true, data: trace.hops.map((hop) => `${hop.ttl} ${shorten(hop.addresses[0] ?? "silent")}`), splitLine: { show: false }, axisTick: { show: false } })),
    visualMap: { type: "continuous", min: 0, max: highest, calculable: false, orient: "horizontal", top: 0, right: 8, itemWidth: 10, itemHeight: 120, text: [ms(highest), "0"], textStyle: { color: theme.faint, fontSize: 11 }, inRange: { color: theme.name === "light" ? ["#f3f6f8", "#9cc9e6", "#0072b2", "#1f2a44"] : ["#1a2027", "#1f5f8a", "#56b4e9", "#f2f7fb"] } },
    tooltip: tooltip(theme, "item", ({ value, seriesIndex }: { value: [number, number, number | string]; seriesIndex: number }) => {
      const trace = run.hops[seriesIndex]!;
      const hop = trace.hops[value[1]];
      return tip(`hop ${hop?.ttl}, ${(value[0] * trace.bin_s).toFixed(0)} s`, [{ name: hop?.addresses[0] ?? "silent", value: typeof value[2] === "number" ? ms(value[2]) : "no answer" }]);
    }),
    series,
  };
  return { option: option as unknown as Option, height: heightOf(places) };
}

function where(run: RunView): string {
  const found = at(run.run.summary, "bottleneck");
  const rises = ["up", "down"].flatMap((direction) => {
    const rise = numberAt(found, `${direction}.rise_ms`);
    return rise === null ? [] : [`${ms(rise)} ${direction === "up" ? "from the client" : "from the server"}`];
  });
  if (!rises.length) return "Where the delay arises, hop by hop";
  const between = ((at(found, "between") ?? []) as string[]).filter(Boolean);
  return `The delay under load arises ${between.length === 2 ? `between ${between[0]} and ${between[1]}` : "at the marked hops"}: ${rises.join(", ")}`;
}

export function hops(run: RunView): Spec[] {
  if (!run.hops.length) return [];
  // The measuring end first.
  run.hops.sort((a, b) => b.direction.localeCompare(a.direction));
  const rows = run.hops.flatMap((trace) => trace.hops.map((hop) => [`${trace.direction} ${hop.ttl}`, hop.addresses.join(", ") || null, hop.is_end ? "yes" : "", hop.asked, hop.answered, ...(["idle", "loaded"] as const).flatMap((phase) => [digits(hop[phase]?.p50), digits(hop[phase]?.p95)])]));
  const numbers = () => ({ head: ["hop", "who answered", "the other end", "asked", "answered", "idle p50, ms", "idle p95, ms", "loaded p50, ms", "loaded p95, ms"], rows });
  return [
    {
      id: "hops", title: where(run), about: "Median round trip to each router on the way; bars from 5 % to 95 %. Dashed: idle. Solid: loaded.",
      howTo: ["From left to right the way leads away from the measuring end.", "Where the solid line leaves the dashed one, there is the queue; all hops behind it inherit its delay.", "A single hop that is high while the next is low again only answers slowly: routers do that."],
      draw: (theme, width) => drawHops(run, theme, width), table: numbers,
    },
    {
      id: "strip", title: "The same over time", about: "Each cell is the longest round trip to a hop in that time; empty cells had no answer.",
      howTo: ["Rows that darken when the load begins lie behind the bottleneck.", "Rows that are empty are routers that do not answer."],
      draw: (theme, width) => drawStrip(run, theme, width), table: numbers,
    },
  ];
}

/** Sent against arrived, as one table of counts for each direction and field. */
export function marks(run: RunView): Spec | null {
  if (!run.marks.length) return null;
  const changed = (field: "dscp" | "ecn") => {
    const all = run.marks.reduce((a, mark) => a + mark.packets, 0);
    const other = run.marks.filter((mark) => mark[`sent_${field}`] !== mark[`seen_${field}`]).reduce((a, mark) => a + mark.packets, 0);
    return { all, other };
  };
  const count = (wanted: (mark: Mark) => boolean) => run.marks.filter(wanted).reduce((a, mark) => a + mark.packets, 0);
  const capable = (mark: Mark) => mark.sent_ecn.startsWith("ECT");
  const ect = count(capable);
  const ce = count((mark) => capable(mark) && mark.seen_ecn === "CE");
  const bleached = count((mark) => capable(mark) && mark.seen_ecn === "Not-ECT");
  const ecn = bleached ? "arrive as not ECN-capable (bleached)" : "carry a congestion mark";
  const dscp = changed("dscp");
  const title = `${dscp.other === 0 ? "Every class arrives as it was sent" : `${pct((dscp.other / dscp.all) * 100)} of the datagrams arrive in another class`}${ect ? `; ${pct(((bleached || ce) / ect) * 100)} of the ECN-capable ones ${ecn}` : ""}`;
  return {
    id: "marks", title, about: "Datagrams by the traffic class and ECN field they were sent with (rows) and arrived with (columns).",
    howTo: ["Counts on the diagonal arrived as sent.", "Counts beside it were rewritten on the way; such a class cannot be relied on.", "CE is a congestion mark that a queue set instead of dropping: that is good, and should be rare when idle."],
    html: () => h("div", { class: "matrices" }, ...(["dscp", "ecn"] as const).flatMap((field) => ["up", "down"].map((direction) => matrix(run.marks.filter((mark) => mark.direction === direction), field, direction)))),
  };
}

function matrix(all: Mark[], field: "dscp" | "ecn", direction: string): HTMLElement | null {
  const sort = field === "dscp" ? byClass : (a: string, b: string) => a.localeCompare(b);
  const sent = [...new Set(all.map((mark) => mark[`sent_${field}`]))].sort(sort);
  const seen = [...new Set([...sent, ...all.map((mark) => mark[`seen_${field}`])])].sort(sort);
  if (!sent.length) return null;
  const n = (a: string, b: string) => all.filter((mark) => mark[`sent_${field}`] === a && mark[`seen_${field}`] === b).reduce((sum, mark) => sum + mark.packets, 0);
  const body = h("tbody");
  for (const a of sent) {
    const row = h("tr", {}, h("th", { scope: "row" }, a));
    for (const b of seen) {
      const packets = n(a, b);
      row.append(h("td", { class: packets === 0 ? "none" : a === b ? "same" : "other" }, packets ? packets.toLocaleString("en") : "·"));
    }
    body.append(row);
  }
  return h("table", { class: "matrix" }, h("caption", {}, `${field.toUpperCase()}, ${direction}`), h("thead", {}, h("tr", {}, h("td", { class: "corner" }, "sent ↓ arrived →"), ...seen.map((name) => h("th", { scope: "col" }, name)))), body);
}

const stepsLine = ({ bin_s, v }: Steps): Line => ({ t_s: v.map((_, i) => (i + 0.5) * bin_s), v, bin_s, n: v.length });
const GONE: Record<string, string> = { overflow: "dropped, queue full", aqm: "dropped by AQM", loss: "lost by emulated loss", marked: "marked CE" };

export function lab(run: RunView): Spec | null {
  const links = run.lab.filter((link) => link.queue_bytes.v.some((v) => v !== null && v > 0) && (link.rate_mbps !== null || link.queue_bytes.n > 0)).slice(0, 6);
  if (!links.length) return null;
  const top = (link: Link) => Math.max(...(link.queue_ms ?? link.queue_bytes).v.map((v) => v ?? 0));
  const first = links.reduce((a, b) => (top(b) > top(a) ? b : a));
  const longest = first.queue_ms ? ms(top(first)) : `${digits(top(first) / 1e3)} kB`;
  const name = (link: Link) => `${link.link} ${link.direction}`;
  const draw = (theme: Theme, width: number) => {
    const colours: Record<string, string> = { overflow: theme.vermillion, aqm: theme.orange, loss: theme.purple, marked: theme.green };
    const columns = width > 700 ? Math.min(2, links.length) : 1;
    const rows = links.flatMap((link) => [{ link, what: "queue" }, { link, what: "gone" }, { link, what: "carried" }]);
    // The panels of a link stand under each other; links beside each other.
    const order = Array.from({ length: Math.ceil(links.length / columns) }, (_, block) => links.slice(block * columns, block * columns + columns)).flatMap((group) => ["queue", "gone", "carried"].flatMap((what) => Array.from({ length: columns }, (_, i) => (group[i] ? rows.find((row) => row.link === group[i] && row.what === what)! : null))));
    // Below the panels of a link stands what their axis is.
    const all = tiles(width, order.length, columns, 88, { top: 58, gapX: 56, gapY: 40 }).map((place, i) => ({ ...place, top: place.top + 24 * Math.floor(i / (3 * columns)) }));
    const cells = order.flatMap((cell, i) => (cell ? [{ ...cell, place: all[i]! }] : []));
    const named: ({ name: string; text: (v: number) => string } | null)[] = [];
    const series = cells.flatMap(({ link, what }, i): Series[] => {
      named.push(null);
      const shade = run.mbm ? testShades(i, run, theme, cells[i]!.place.width, what === "queue") : shades(i, run.phases, theme, false);
      if (what === "queue") {
        named.push({ name: `${name(link)}: queue`, text: link.queue_ms ? ms : (v) => `${digits(v)} bytes` });
        return [shade, lineSeries(i, "queue", link.queue_ms ?? link.queue_bytes, theme.ink)];
      }
      if (what === "gone") {
        return [shade, ...Object.entries(link.gone_per_s).map(([key, steps]) => {
          named.push({ name: `${name(link)}: ${GONE[key] ?? key}`, text: (v) => `${digits(v)} packets/s` });
          return lineSeries(i, GONE[key] ?? key, stepsLine(steps), colours[key] ?? theme.ink, { areaStyle: { opacity: 0.3, color: colours[key] } });
        })];
      }
      named.push({ name: `${name(link)}: carried`, text: mbps });
      const rate = link.rate_mbps === null ? {} : { markLine: { silent: true, symbol: "none", data: [{ yAxis: link.rate_mbps }], lineStyle: { color: theme.faint, type: "dotted" }, label: { show: false } } };
      return [shade, lineSeries(i, "carried", stepsLine(link.carried_mbps), theme.blue, rate)];
    });
    const words = { queue: (link: Link) => (link.queue_ms ? "queue, ms to drain" : "queue, bytes"), gone: () => "dropped or marked, packets/s", carried: (link: Link) => `carried, Mbit/s${link.rate_mbps ? ` (rate ${digits(link.rate_mbps)})` : ""}` };
    const present = [...new Set(links.flatMap((link) => Object.keys(link.gone_per_s)))];
    const option = {
      title: cells.map(({ link, what, place }) => panelTitle(`${name(link)}: ${words[what as keyof typeof words](link)}`, place, theme)),
      legend: legend(theme, present.map((key) => ({ name: GONE[key] ?? key, colour: colours[key] ?? theme.ink }))),
      grid: cells.map(({ place }) => place),
      xAxis: cells.map(({ what }, i) => timeAxis(i, run.end_s, theme, what === "carried")),
      yAxis: cells.map((_, i) => valueAxis(i, theme, { min: 0, splitNumber: 2 })),
      axisPointer: { link: [{ xAxisIndex: "all" }] },
      tooltip: timeTip(theme, (_, i) => named[i] ?? null, series),
      series,
    };
    return { option: option as unknown as Option, height: heightOf(cells.map(({ place }) => place)) };
  };
  return {
    id: "queues", zoom: true, title: `The truth of the lab: the queue of ${first.link}, ${first.direction}, grew to ${longest}`,
    about: `The emulator's own counters: the queue every 10 ms as minimum and maximum per bin, drops and marks per second, what left the link (headers included) in bins of ${digits(first.carried_mbps.bin_s)} s.`,
    howTo: ["This was not measured but counted by the emulated link itself: the other figures can be held against it.", "The queue in ms is the delay that a packet finds which arrives then.", "A simple queue grows until it overflows; a managed one stays at a few ms and drops or marks early."],
    draw,
    table: () => ({
      head: ["link", "direction", "rate, Mbit/s", "longest queue", ...Object.values(GONE)],
      rows: run.lab.map((link) => [link.link, link.direction, digits(link.rate_mbps), link.queue_ms ? ms(top(link)) : `${digits(top(link) / 1e3)} kB`, ...Object.keys(GONE).map((key) => link.gone[key] ?? 0)]),
    }),
  };
}
