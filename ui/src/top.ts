// What stands before the figures: the answer, whether it can be believed, the score.
import { at, LATENCY, numberAt, type Json, type RunView, type Transfer } from "./data";
import { h } from "./dom";
import { estimateTiles } from "./figures/answer";
import { rpmTiles } from "./figures/rpm";
import { udpstTiles } from "./figures/udpst";
import { mbmTiles } from "./figures/asked";
import { signed } from "./figures/pairs";
import { forwardMbps } from "./figures/replay";
import { median, pairs } from "./figures/transfers";
import { bytes, count, digits, mbps, ms, pct } from "./format";
import { kindWords } from "./palette";

const STATUS: Record<string, string> = {
  complete: "Complete",
  incomplete: "INCOMPLETE: the run was cut short; what was measured until then is here",
  invalid: "INVALID: the instrument was the bottleneck; the figures say nothing about the path",
  failed: "FAILED: nothing could be measured",
};

export function status(run: RunView): HTMLElement {
  const { status: how, verdict } = run.run;
  const parts = h("p", { class: `status ${how}` }, h("strong", {}, STATUS[how] ?? how));
  // Of tests and properties of a path the verdict is told in large.
  if (verdict && !run.mbm && !run.estimate) parts.append(" · verdict ", h("strong", { class: `verdict ${verdict.toLowerCase()}` }, verdict));
  return parts;
}

export function origin(run: RunView): HTMLElement {
  const { test, started, plan, path } = run.run;
  const between = [path?.client?.addresses?.[0], path?.server?.addresses?.[0]].filter(Boolean).join(" to ");
  const families = (path?.families ?? []).map((family: number) => `IPv${family}`).join(" and ");
  const text = [plan?.name && plan.name !== test ? `${test}, plan ${plan.name}` : test, run.name, started.replace("T", " ").replace(/\.\d+Z$/, " UTC").replace(/Z$/, " UTC"), between, families, plan?.note].filter(Boolean).join(" · ");
  return h("p", { class: "origin" }, text);
}

export function warnings(run: RunView): HTMLElement | null {
  const all = run.run.warnings;
  if (!all.length) return null;
  return h("section", { class: "warnings", "aria-label": "Warnings" }, h("h2", {}, all.length === 1 ? "A warning" : `${all.length} warnings`),
    h("ul", {}, ...all.map(({ code, message, advice }) => h("li", {}, h("strong", {}, message), advice ? ` – ${advice}` : "", " ", h("code", {}, code)))));
}

/** The figures that people ask for first, each a link to where it comes from. */
export function tiles(run: RunView): HTMLElement | null {
  const s = run.run.summary;
  // Half the width of a figure's 95 % interval, as the end of a line.
  const sure = (path: string, text: (v: number) => string) => {
    const bounds = (at(s, "ci95") ?? {})[path] as { low: number; high: number } | undefined;
    return bounds ? `, ±${text((bounds.high - bounds.low) / 2)} (95 %)` : "";
  };
  const two = (path: string, text: (v: number | null) => string) => {
    const [idle, loaded] = [numberAt(s, `${path}.idle.p50`), numberAt(s, `${path}.loaded.p50`)];
    const aside = loaded === null ? `idle${sure(`${path}.idle.p50`, text)}` : `${text(idle)} idle${sure(`${path}.loaded.p50`, text)}`;
    return idle === null && loaded === null ? null : [loaded === null ? text(idle) : text(loaded), aside];
  };
  const web = numberAt(s, "web.loaded_ms.p50");
  const worst = (key: string) => Math.min(...Object.keys(at(s, "voip") ?? {}).flatMap((name) => ["up", "down"].flatMap((way) => numberAt(s, `voip.${name}.${way}.loaded.${key}`) ?? [])));
  const [worstMos, worstAdaptive] = [worst("mos"), worst("adaptive.mos")];
  const loss = numberAt(s, "loss_pct.loaded") ?? numberAt(s, "loss_pct.idle");
  const probe = kindWords(String(at(s, "latency_ms.of") ?? "udp_rr"));
  const found: ([string, string, string, string] | null)[] = [
    tile(`${probe} round trip, median`, two("latency_ms", ms), "timeline"),
    tile("TCP round trip, median", two("tcp_rr_ms", ms), "spread"),
    tile("Web page, median", web === null ? null : [ms(web), `${ms(numberAt(s, "web.idle_ms.p50"))} idle`], "web"),
    tile("Calls, worst MOS", Number.isFinite(worstMos) ? [worstMos.toFixed(2), Number.isFinite(worstAdaptive) ? `${worstAdaptive.toFixed(2)} with an adaptive buffer` : "of at most 4.5"] : null, "voip"),
    tile("Throughput down", numberAt(s, "throughput_mbps.down") === null ? null : [mbps(numberAt(s, "throughput_mbps.down")), `${bytes(numberAt(s, "transferred_bytes.down"))} moved${sure("throughput_mbps.down", mbps)}`], "streams"),
    tile("Throughput up", numberAt(s, "throughput_mbps.up") === null ? null : [mbps(numberAt(s, "throughput_mbps.up")), `${bytes(numberAt(s, "transferred_bytes.up"))} moved${sure("throughput_mbps.up", mbps)}`], "streams"),
    tile(`${probe} requests lost`, loss === null ? null : [pct(loss), numberAt(s, "loss_pct.loaded") === null ? "idle" : `${pct(numberAt(s, "loss_pct.idle"))} idle`], "timeline"),
    tile("RPM, round trips a minute", numberAt(s, "rpm.loaded") === null ? null : [digits(numberAt(s, "rpm.loaded")), `${digits(numberAt(s, "rpm.idle"))} idle`], "https"),
  ];
  const made = [...mbmTiles(run), ...estimateTiles(run), ...rpmTiles(run), ...udpstTiles(run), ...bulk(run), ...replayed(run), ...found].filter((entry) => entry !== null);
  if (!made.length) return null;
  return h("ul", { class: "tiles", "aria-label": "Key figures" }, ...made.map(([name, value, aside, to]) =>
    h("li", {}, h("a", { href: `#${to}` }, h("span", { class: "name" }, name), h("span", { class: "value" }, value), h("span", { class: "aside" }, aside)))));
}

/** Of bulk transfers: what ours got, and how it stands to the kernel's. */
function bulk(run: RunView): ([string, string, string, string] | null)[] {
  if (!run.btc?.transfers.length) return [];
  const all = run.btc.transfers.filter(({ tool }) => tool !== "kernel");
  const middle = (of: (one: Transfer) => number | null) => {
    const values = all.flatMap((one) => of(one) ?? []);
    return values.length ? median(values) : null;
  };
  const several = all.length > 1 ? `median of ${all.length} transfers` : "";
  const differences = pairs(run).map(({ difference_pct }) => difference_pct);
  const rtt = run.btc.courses.find(({ rtt }) => rtt)?.rtt?.ms;
  const [rate, took, loss, again] = [middle((one) => one.throughput_mbps), middle((one) => one.seconds), middle((one) => one.loss_pct), middle((one) => one.retransmits)];
  const late = middle((one) => one.reordered);
  const packets = (n: number) => `${Number.isInteger(n) ? count(n) : digits(n)} ${n === 1 ? "packet" : "packets"}`;
  return [
    tile("Throughput", rate === null ? null : [mbps(rate), several || (took === null ? "" : `over ${digits(took)} s`)], "rate"),
    tile("Against the kernel's TCP", differences.length ? [`${signed(median(differences))} %`, differences.length > 1 ? `median of ${differences.length} pairs` : "of its throughput"] : null, "transfers"),
    tile("Packets lost", loss === null ? null : [pct(loss), several], "sequence"),
    tile("Sent again", again === null ? null : [packets(again), several], "sequence"),
    tile("Round trip, median", rtt ? [ms(rtt.p50), `${ms(rtt.p5)} to ${ms(rtt.p95)} (5 to 95 %)`] : null, "rtt"),
    tile("Arrived out of order", late === null ? null : [packets(late), several], "sequence"),
  ];
}

/** Of a replay: how it went, what connections took, and what the bottleneck saw. */
function replayed({ replay, run }: RunView): ([string, string, string, string] | null)[] {
  if (!replay) return [];
  const { duration_ms: duration, response_ms: response, queue, active, arrivals, models } = replay;
  const ends = Object.values(replay.ends).reduce((a, b) => a + b, 0);
  const planned = numberAt(run.summary, "connections.planned") ?? ends;
  const [rate, hurst, cov] = [forwardMbps(replay), arrivals?.hurst, arrivals?.marginals[0]];
  return [
    tile("Connections complete", ends ? [pct(((replay.ends["complete"] ?? 0) / Math.max(1, planned)) * 100), `of ${count(planned)}`] : null, "durations"),
    tile("Duration, median", duration && [ms(duration.p50), `80 % at most ${ms(duration.p80)}`], "durations"),
    tile("Response time, median", response && [ms(response.p50), `80 % within ${ms(response.p80)}`], "responses"),
    tile("Forward throughput", rate === null ? null : [mbps(rate), models.rate_mbps === null ? "" : `of ${mbps(models.rate_mbps)}`], "throughput"),
    tile("Queue, median", queue?.ms ? [ms(queue.ms.p50), `a tenth of the time above ${ms(queue.ms.p90)}`] : null, "queue-lengths"),
    tile("Active connections", active?.counted ? [digits(active.counted.p50), "in the median second"] : null, "active"),
    tile("Variation of arrivals", typeof cov?.cov === "number" ? [pct(cov.cov * 100), `in bins of ${digits(cov.bin_s)} s`] : null, "marginals"),
    tile("Hurst parameter", hurst ? [hurst.value.toFixed(2), `${hurst.low.toFixed(2)} to ${hurst.high.toFixed(2)} (95 %)`] : null, "logscale"),
  ];
}

function tile(name: string, value: string[] | null | undefined, to: string): [string, string, string, string] | null {
  return value ? [name, value[0] ?? "", value[1] ?? "", to] : null;
}

const PARTS: [string, string, string][] = [
  ["web", "Web pages", "web"], ["realtime", "Round trips", "spread"], ["voip", "Calls", "voip"],
  ["classification", "Classes", "streams"], ["fairness", "Fairness", "streams"],
];

/** Where the evidence for a penalty is drawn: by the figure of the summary that it names, or by words in its code. */
const EVIDENCE: [RegExp, string][] = [
  [/^voip|voip|jitter|mos/, "voip"], [/^web|page/, "web"], [/^dscp|^ecn|bleach/, "marks"], [/^bottleneck|icmp|trace|hop/, "hops"], [/^dns/, "dns"],
  [/^slew|^throughput|^fairness|slew|domina|unequal|share|cs1/, "streams"], [/^latency|^tcp_rr|delay|owd/, "boxes"],
];

export function score(run: RunView): HTMLElement | null {
  const found = at(run.run.summary, "score");
  const total = numberAt(found, "total");
  if (!found || total === null) return null;
  const parts = PARTS.map(([key, name, to]) => {
    const value = numberAt(found, key);
    const width = `width:${((value ?? 0) / 20) * 100}%`;
    return h("li", {},
      h("a", { href: `#${to}` }, name), h("span", { class: "meter", role: "img", "aria-label": `${digits(value)} of 20` }, h("span", { style: width })),
      h("span", { class: "points" }, value === null ? "–" : `${digits(value)} / 20`), h("span", { class: "why" }, String(at(found, `why.${key}`) ?? "not measured")));
  });
  return h("section", { class: "score", "aria-label": "Score" },
    h("div", { class: "total" }, h("h2", {}, "Score"), h("p", {}, h("strong", {}, digits(total)), " of 100")), h("ol", {}, ...parts), penalties(run.run.summary));
}

function penalties(summary: Json): HTMLElement | null {
  const all = (at(summary, "penalties") ?? []) as { code: string; message: string; evidence: unknown }[];
  if (!Array.isArray(all) || !all.length) return null;
  return h("div", { class: "penalties" }, h("h3", {}, "Penalties"), h("ul", {}, ...all.map(({ code, message, evidence }) => {
    const named = typeof evidence === "string" ? evidence : JSON.stringify(evidence ?? "");
    const to = (EVIDENCE.find(([words]) => words.test(named)) ?? EVIDENCE.find(([words]) => words.test(String(code))))?.[1] ?? "timeline";
    return h("li", {}, h("strong", {}, String(message ?? code)), " – ", h("a", { href: `#${to}` }, "see the figure"), named ? h("code", {}, ` ${named}`) : null);
  })));
}

/** What the plan asked for and the record does not have, once. */
export function absent(run: RunView): HTMLElement | null {
  const asked = new Set<string>((run.run.plan?.probe ?? []).map((probe: Json) => String(probe?.kind ?? "")));
  for (const [key, kind] of [["web", "web"], ["call", "voip"], ["trace", "trace"]] as const) {
    const plan = run.run.plan?.[key];
    // (`trace = true` of a transfer asks for its packets, not for the path.)
    if (Array.isArray(plan) ? plan.length : plan !== null && typeof plan === "object") asked.add(kind);
  }
  if ((run.run.plan?.load ?? []).length) asked.add("tcp_load");
  const there: Record<string, boolean> = {
    web: !!run.web, trace: run.hops.length > 0, https: !!run.https, tcp_load: run.tcp.flows.length > 0,
    ...Object.fromEntries([...LATENCY, "udp_paced", "tcp_rr", "voip", "dns"].map((kind) => [kind, run.probes.classes.some((c) => c.kind === kind)])),
  };
  const names: Record<string, string> = { web: "web pages", trace: "path traces", https: "HTTPS probes", tcp_load: "load streams", udp_rr: "UDP round trips", icmp_rr: "ICMP round trips", tcp_connect: "attempts to connect", ws_rr: "WebSocket round trips", wt_rr: "WebTransport round trips", udp_paced: "paced UDP round trips", tcp_rr: "TCP round trips", voip: "calls (VoIP)", dns: "name look-ups" };
  const missing = [...asked].filter((kind) => kind in names && !there[kind]);
  if (!missing.length) return null;
  const why = run.run.status === "complete" ? run.run.warnings.find(({ code }) => /failed|lost|refused|unanswered/.test(code))?.message : STATUS[run.run.status];
  return h("p", { class: "absent" }, `Asked for but not in the record: ${missing.map((kind) => names[kind]).join(", ")}${why ? ` (${why})` : ""}.`);
}
