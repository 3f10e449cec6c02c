// Web pages: how long each load took, and what it waited for.
import { axisStyle, FONT, heightOf, legend, panelTitle, shades, stack, timeAxis, valueAxis, type Option, type Series } from "../chart";
import { numberAt, type Bar, type Load, type RunView, type Web } from "../data";
import { bytes, digits, ms, times } from "../format";
import { h, table } from "../dom";
import type { Theme } from "../palette";
import type { Spec } from "../figure";
import { tip, tooltip } from "../tip";
import { scale } from "./load";

const symbolOf = (loader: string) => (loader === "chromium" ? "diamond" : "circle");
const LOADER: Record<string, string> = { native: "own loader", chromium: "Chromium" };
const loaderWords = (loader: string) => LOADER[loader] ?? loader;
const PROTOCOL: Record<string, string> = { "http/1.1": "HTTP/1.1", h2: "HTTP/2", h3: "HTTP/3" };

/** Who loaded a page, and over what. */
interface Kind { loader: string; protocol: string }

/** The protocols of all loads that were timed, in order. */
const protocolsOf = (web: Web) => [...new Set(web.loads.filter((load) => load.load_ms !== null).map((load) => load.protocol))].sort();

/** What a kind of loads is called: without the protocol where all loads have the same. */
function kindWords(web: Web, { loader, protocol }: Kind): string {
  const over = protocolsOf(web).length > 1 ? `, ${PROTOCOL[protocol] ?? protocol}` : "";
  return loaderWords(loader) + over;
}

function kindColour(web: Web, { loader, protocol }: Kind, theme: Theme): string {
  const colours = loader === "chromium" ? [theme.orange, theme.vermillion, theme.purple] : [theme.blue, theme.green, theme.sky];
  return colours[Math.max(0, protocolsOf(web).indexOf(protocol)) % colours.length]!;
}

/** Every kind with a load that was timed. */
function kindsOf(web: Web): Kind[] {
  const timed = web.loads.filter((load) => load.load_ms !== null);
  const kinds = new Map(timed.map(({ loader, protocol }) => [`${loader} ${protocol}`, { loader, protocol }]));
  return [...kinds.keys()].sort().map((key) => kinds.get(key)!);
}

function median(run: RunView, web: Web, phase: string): number | null {
  const told = numberAt(run.run.summary, `web.${phase}_ms.p50`);
  if (told !== null) return told;
  const group = web.groups.find((g) => g.phase === phase && g.ms);
  return group?.ms?.p50 ?? null;
}

function drawLoads(run: RunView, web: Web, theme: Theme, width: number): { option: Option; height: number } {
  const places = stack(width, [210], 46, 64, 58);
  const kinds = kindsOf(web);
  const colour = (kind: Kind) => kindColour(web, kind, theme);
  const means = web.groups.flatMap((group): Series[] => {
    const span = group.phase === "idle" ? (run.phases.web_idle ?? run.phases.idle) : run.phases.loaded;
    if (!group.ms || !span) return [];
    // Of two loads the interval is wider than the figure.
    const half = group.ms.n > 2 ? (group.ci95_ms ?? 0) : 0;
    const mean = group.ms.mean;
    return [{
      type: "line", xAxisIndex: 0, yAxisIndex: 0, silent: true, showSymbol: false, data: [[span[0], mean], [span[1], mean]], lineStyle: { color: colour(group), width: 1.6 }, tooltip: { show: false },
      markArea: { silent: true, itemStyle: { color: colour(group), opacity: 0.16 }, data: [[{ coord: [span[0], mean - half] }, { coord: [span[1], mean + half] }]] },
    } as unknown as Series];
  });
  const dots = kinds.map((kind): Series => ({
    type: "scatter", name: kindWords(web, kind), xAxisIndex: 0, yAxisIndex: 0, symbol: symbolOf(kind.loader), symbolSize: 7, itemStyle: { color: colour(kind), opacity: 0.85 },
    data: web.loads.filter((load) => load.loader === kind.loader && load.protocol === kind.protocol && load.load_ms !== null).map((load) => ({ value: [load.t_s, load.load_ms], load })),
  } as unknown as Series));
  const option = {
    title: [panelTitle("Page load time, ms", places[0]!, theme)],
    legend: legend(theme, kinds.map((kind) => ({ name: kindWords(web, kind), colour: colour(kind) }))),
    grid: places,
    xAxis: [timeAxis(0, run.end_s, theme, true)],
    yAxis: [valueAxis(0, theme, { min: 0, splitNumber: 4 })],
    tooltip: tooltip(theme, "item", ({ data, color }: { data: { load: Load }; color: string }) => {
      const { load } = data;
      return tip(`${kindWords(web, load)}, begun at ${load.t_s.toFixed(1)} s`, [
        { colour: color, name: "load time", value: ms(load.load_ms) }, { name: "first byte", value: ms(load.first_byte_ms) },
        { name: "objects", value: String(load.objects) }, { name: "failed", value: String(load.failed) }, { name: "size", value: bytes(load.bytes) },
      ]);
    }),
    series: [shades(0, run.phases, theme, true), ...means, ...dots],
  };
  return { option: option as unknown as Option, height: heightOf(places) };
}

function groups(web: Web): HTMLElement {
  const rows = web.groups.map((g) => [kindWords(web, g), g.phase, g.ms?.n ?? 0, g.ms ? `${digits(g.ms.mean)} ± ${digits(g.ci95_ms)}` : null, digits(g.sd_ms), digits(g.ms?.p50), digits(g.ms?.max), g.failed]);
  return h("div", { class: "below" }, table({ head: ["loader", "phase", "loads", "mean ± 95 % CI, ms", "s.d., ms", "median, ms", "slowest, ms", "failed"], rows }, "Page load times"));
}

export function web(run: RunView): Spec | null {
  const found = run.web;
  if (!found) return null;
  const [idle, loaded] = [median(run, found, "idle"), median(run, found, "loaded")];
  const title = idle !== null && loaded !== null ? (loaded > 1.1 * idle ? `Under load web pages take ${times(loaded / idle)} as long: ${ms(loaded)} instead of ${ms(idle)}` : `Web pages load as fast under load (${ms(loaded)}) as idle (${ms(idle)})`) : `A web page takes ${ms(idle ?? loaded)}`;
  const cut = found.loads_total > found.loads.length ? ` The first ${found.loads.length} of ${found.loads_total} loads are drawn.` : "";
  return {
    id: "web", title, zoom: true,
    about: `Each dot is one load of the page ${[...new Set(found.loads.map((load) => load.page))].join(", ")}; lines are means of a phase, bands their 95 % confidence interval.${cut}`,
    howTo: [
      "A load is done when all objects of the page are there: look-ups, connections, TLS and requests of many short streams.",
      "On a good path dots under load lie where the idle ones lie.",
      "A page needs many round trips after each other, so each millisecond that a queue adds counts many times.",
    ],
    draw: (theme, width) => drawLoads(run, found, theme, width), html: () => groups(found),
    table: () => ({
      head: ["load", "begun, s", "phase", "loader", "protocol", "page", "load time, ms", "first byte, ms", "objects", "failed", "size", "error"],
      rows: found.loads.map((l) => [l.load, l.t_s, l.phase ?? "between", loaderWords(l.loader), l.protocol, l.page, digits(l.load_ms), digits(l.first_byte_ms), l.objects, l.failed, bytes(l.bytes), l.error]),
    }),
  };
}

const STEPS: [string, keyof Bar, (theme: Theme) => string][] = [
  ["waiting for a connection", "blocked_ms", (t) => t.grid],
  ["name look-up", "dns_ms", (t) => t.purple],
  ["TCP connection", "connect_ms", (t) => t.orange],
  ["TLS or QUIC handshake", "tls_ms", (t) => t.vermillion],
  ["request, until the first byte", "wait_ms", (t) => t.green],
  ["receiving", "receive_ms", (t) => t.blue],
];

function drawWaterfall(objects: Bar[], end: number, theme: Theme, width: number): { option: Option; height: number } {
  const left = Math.min(230, width * 0.3);
  const place = { left, top: 34, width: width - left - 20, height: Math.max(60, objects.length * 13) };
  const told = (bar: Bar) => STEPS.some(([, key]) => bar[key] !== null);
  const stacked = (name: string, data: (number | null)[], style: object): Series => ({ type: "bar", name, stack: "all", barWidth: "78%", data, itemStyle: style, emphasis: { disabled: true } } as Series);
  const series = [
    stacked("", objects.map((bar) => bar.start_ms), { color: "transparent" }),
    ...STEPS.map(([name, key, colour]) => stacked(name, objects.map((bar) => bar[key] as number | null), { color: colour(theme) })),
    stacked("not told in detail", objects.map((bar) => (told(bar) ? null : bar.total_ms)), { color: theme.faint }),
  ];
  const option = {
    legend: { ...legend(theme, STEPS.map(([name, , colour]) => ({ name, colour: colour(theme) }))), left: 0, right: 0, itemHeight: 9, itemWidth: 12, itemGap: 10 },
    grid: place,
    xAxis: { ...axisStyle(theme), type: "value", ...scale(end, 5), position: "bottom", name: "ms since the load was begun", nameLocation: "middle", nameGap: 24 },
    yAxis: { ...axisStyle(theme), type: "category", inverse: true, data: objects.map((bar) => bar.path), splitLine: { show: false }, axisTick: { show: false }, axisLabel: { color: theme.faint, fontSize: 10, fontFamily: FONT, width: left - 14, overflow: "truncate", interval: 0 } },
    tooltip: tooltip(theme, "axis", (given: { dataIndex: number }[]) => {
      const bar = objects[given[0]?.dataIndex ?? -1];
      if (!bar) return "";
      const lines = STEPS.flatMap(([name, key, colour]) => (bar[key] === null ? [] : [{ colour: colour(theme), name, value: ms(bar[key] as number) }]));
      return tip(`${bar.host}${bar.path}`, [{ name: "begun at", value: ms(bar.start_ms) }, ...lines, { name: "in all", value: ms(bar.total_ms) }, { name: "size", value: bytes(bar.bytes) }, { name: "connection", value: bar.connection === null ? "–" : String(bar.connection) }]);
    }),
    series,
  };
  return { option: option as unknown as Option, height: place.top + place.height + 46 };
}

export function waterfall(run: RunView): Spec | null {
  const falls = (run.web?.waterfalls ?? []).map((fall) => ({ ...fall, of: run.web!.loads.find((load) => load.load === fall.load) }));
  const first = falls[0];
  if (!first) return null;
  const kind = (of: Load | undefined) => (of ? `${of.phase ?? ""}, ${kindWords(run.web!, of)}` : "");
  const name = (fall: (typeof falls)[number]) => `${kind(fall.of)}, ${fall.stands_for}: ${ms(fall.of?.load_ms)}`;
  const end = Math.max(...falls.flatMap((fall) => fall.objects.map((bar) => bar.start_ms + (bar.total_ms ?? 0))));
  let chosen = Math.max(0, falls.findIndex((fall) => fall.of?.phase === "loaded"));
  const start = chosen;
  const order = [falls[start]!, ...falls.filter((_, i) => i !== start)];
  chosen = 0;
  return {
    id: "waterfall", title: "What a page waits for, object by object",
    about: "One row is one object of the page; all loads have the same time scale. Choose another load to compare.",
    howTo: ["Read a row from left to right: when the object was asked for, and what it then waited for.", "Coloured stretches before the request are round trips without data: new connections.", "Under load every coloured stretch grows by the delay of the queue, and they come one after the other."],
    choice: { label: "Load", options: order.map(name), choose: (i) => void (chosen = i) },
    draw: (theme, width) => drawWaterfall(order[chosen]!.objects, end, theme, width),
    table: () => ({
      head: ["path", "load", "host", "kind", "start, ms", ...STEPS.map(([words]) => `${words}, ms`), "in all, ms", "size", "status", "connection"],
      rows: order.flatMap((fall) => fall.objects.map((bar) => [bar.path, name(fall), bar.host, bar.kind, digits(bar.start_ms), ...STEPS.map(([, key]) => digits(bar[key] as number | null)), digits(bar.total_ms), bytes(bar.bytes), bar.status, bar.connection])),
    }),
  };
}

function rpmOf(run: RunView): string {
  const [idle, loaded] = [numberAt(run.run.summary, "rpm.idle"), numberAt(run.run.summary, "rpm.loaded")];
  if (loaded === null) return idle === null ? "" : `: ${digits(idle)} round trips a minute (RPM)`;
  return `: ${digits(loaded)} round trips a minute under load (RPM)${idle === null ? "" : `, ${digits(idle)} idle`}`;
}

export function https(run: RunView): Spec | null {
  const found = run.https;
  if (!found || (!found.idle && !found.loaded)) return null;
  const steps = [["TCP", "connect_ms"], ["TLS", "tls_ms"], ["HTTP", "http_ms"]] as const;
  const rows = (["idle", "loaded"] as const).flatMap((phase) => steps.flatMap(([name, key]) => {
    const f = found[phase]?.[key];
    return f ? [[name, phase, f.n, ...[f.p5, f.p50, f.p95, f.p99, f.max].map(digits)]] : [];
  }));
  const rpm = rpmOf(run);
  return {
    id: "https", title: `What a new HTTPS connection costs${rpm}`,
    about: "A small request on a new connection, again and again; each step is one round trip and the work of both ends.",
    howTo: ["The three steps of each probe follow each other, so a user waits for their sum.", "RPM (draft-ietf-ippm-responsiveness) is how many such round trips fit into a minute under load: above 1,000 is good, below 200 is sluggish."],
    html: () => h("div", { class: "below" }, table({ head: ["step", "phase", "n", "p5, ms", "median, ms", "p95, ms", "p99, ms", "max, ms"], rows }, "Steps of a request on a new connection")),
  };
}
