// The page: starts the two workers, draws what they tell, and shows what came of it.
import { visits } from "./visit.js";

const at = (id) => document.getElementById(id);
const say = (text) => (at("status").textContent = text);
const base = `${location.protocol === "https:" ? "wss:" : "ws:"}//${location.host}`;
const number = (value) => (value === null || value === undefined ? null : Number(value.toPrecision(value >= 100 ? 3 : value >= 1 ? 3 : 2)));
const ms = (value) => (value === null || value === undefined ? "not measured" : value >= 1000 ? `${number(value / 1000)} s` : `${number(value)} ms`);
const mbps = (value) => (value === null || value === undefined ? "not measured" : value >= 1000 ? `${number(value / 1000)} Gbit/s` : `${number(value)} Mbit/s`);

/** How long a load's connections may take to close. */
const PATIENCE = 2000;

/** Points as they come, drawn a few times a second. */
class Chart {
  #points = [];
  #drawn = 0;
  constructor(plan) {
    this.plan = plan;
    this.timer = setInterval(() => this.draw(), 250);
  }
  add(point) { this.#points.push(point); }
  stop() { clearInterval(this.timer); this.draw(); }
  draw() {
    if (this.#drawn === this.#points.length) return;
    this.#drawn = this.#points.length;
    const [left, right, top, bottom] = [56, 632, 12, 168];
    const highest = Math.max(10, ...this.#points.map(([, rtt]) => rtt));
    const step = [5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000].find((step) => highest / step <= 4) ?? 10000;
    const ceiling = Math.ceil(highest / step) * step;
    const x = (t) => left + (t / this.plan.total_ms) * (right - left);
    const y = (rtt) => bottom - (rtt / ceiling) * (bottom - top);
    const parts = [`<rect class="shade" x="${x(this.plan.load_start_ms)}" y="${top}" width="${x(this.plan.load_end_ms) - x(this.plan.load_start_ms)}" height="${bottom - top}"/>`];
    for (let value = 0; value <= ceiling; value += step) parts.push(`<line class="axis" x1="${left}" x2="${right}" y1="${y(value)}" y2="${y(value)}"/><text x="${left - 6}" y="${y(value) + 4}" text-anchor="end">${value}</text>`);
    for (let second = 0; second * 1000 <= this.plan.total_ms; second += 4) parts.push(`<text x="${x(second * 1000)}" y="${bottom + 24}" text-anchor="middle">${second}</text>`);
    for (const [t, rtt] of this.#points) parts.push(`<circle class="dot" cx="${x(t).toFixed(1)}" cy="${y(rtt).toFixed(1)}" r="1.6"/>`);
    const chart = at("chart"), title = chart.querySelector("title");
    // Numbers only, all of them this page's own.
    chart.innerHTML = parts.join("");
    chart.prepend(title);
  }
}

/** A call of each way, as it was heard under load. */
function calls(summary) {
  const both = Object.values(summary.voip ?? {})[0];
  const ways = both ? [both.up, both.down] : [];
  if (!ways.length || ways.some((way) => typeof way.mos_adaptive !== "number")) return [];
  const jitter = Math.max(...ways.map((way) => way.jitter_ms ?? NaN));
  const [up, down] = ways.map((way) => (typeof way.loss_pct === "number" ? `${number(way.loss_pct)} %` : "not measured"));
  const mos = Math.min(...ways.map((way) => way.mos_adaptive));
  return [
    ["Call quality, loaded", mos.toFixed(1), "MOS, 1 to 4.5, the worse way"],
    ["Packet loss, loaded", `${down}`, `down; ${up} up`],
    ["Jitter, loaded", ms(Number.isNaN(jitter) ? null : jitter), "99 % of packets within, the worse way"],
  ];
}

/** A page, before the load and under it. */
function pages({ web }) {
  if (!web) return [];
  const loads = (n) => (n === 1 ? "one load" : `mean of ${n} loads`);
  const tile = (name, time, of) => (of ? [name, ms(time), loads(of.n)] : time ? [name, `over ${ms(time)}`, "not finished"] : [name, ms(null), ""]);
  return [
    tile("Page load, idle", web.idle_per_page_ms, web.idle_ms),
    tile("Page load, loaded", web.loaded_per_page_ms, web.loaded_ms),
  ];
}

/** How often in a minute somebody could ask and be answered on a new connection (draft-ietf-ippm-responsiveness). */
function responsiveness({ rpm }) {
  if (typeof rpm?.loaded !== "number") return [];
  const idle = typeof rpm.idle === "number" ? `; ${Math.round(rpm.idle)} idle` : "";
  return [["Responsiveness, loaded", `${Math.round(rpm.loaded)}`, `round trips a minute (RPM)${idle}`]];
}

function tiles(summary) {
  const of = summary.latency_ms, rates = summary.throughput_mbps;
  const loaded = of.loaded ? `95 % within ${ms(of.loaded.p95)}` : "";
  const total = summary.score?.total;
  const all = [
    ["Download", mbps(rates.down), ""],
    ["Upload", mbps(rates.up), ""],
    ["Round trip, idle", ms(of.idle?.p50), of.idle ? `95 % within ${ms(of.idle.p95)}` : ""],
    ["Round trip, loaded", ms(of.loaded?.p50), loaded],
    ...responsiveness(summary),
    ...pages(summary),
    ...calls(summary),
    ...(total === null || total === undefined ? [] : [["Score", `${Math.round(total)}`, "of 100"]]),
  ];
  at("tiles").replaceChildren(...all.map(([name, value, aside]) => {
    const [div, dt, dd, small] = ["div", "dt", "dd", "small"].map((tag) => document.createElement(tag));
    dt.textContent = name;
    dd.textContent = value;
    small.textContent = aside;
    dd.append(small);
    div.append(dt, dd);
    return div;
  }));
}

function finish(result, carried) {
  at("answer").textContent = result.sentence;
  tiles(result.summary);
  at("warnings").replaceChildren(...result.warnings.map(({ message, advice }) => {
    const item = document.createElement("li");
    item.textContent = `${message} - ${advice}`;
    return item;
  }));
  at("carried").textContent = carried;
  at("report").href = result.report;
  at("keep").href = result.kept;
  at("record").textContent = result.record;
  at("result").hidden = false;
  at("progress").hidden = true;
  say(result.status === "complete" ? "Done." : `Done; the run is ${result.status}.`);
  document.title = `Isobath: ${result.sentence}`;
}

async function start() {
  const button = at("start");
  button.disabled = true;
  button.textContent = "Measuring";
  at("result").hidden = true;
  at("progress").hidden = false;
  at("progress").value = 0;
  say("Asking the server.");
  let hidden = document.hidden;
  const sees = () => (hidden ||= document.hidden);
  document.addEventListener("visibilitychange", sees);
  const over = new AbortController();
  const [probe, load] = [new Worker("probe.js"), new Worker("load.js")];
  let chart, carried;
  try {
    const result = await new Promise((resolve, reject) => {
      const found = {};
      const told = () => {
        if (!found.probes || !found.load || !found.pages) return;
        say("Asking the server for the figures.");
        const failures = [...found.probes.failures, ...found.load.failures];
        probe.postMessage({ findings: { agent: navigator.userAgent, hidden, ...found.probes, ...found.load, pages: found.pages, failures } });
      };
      const closing = new Map();
      const pageOver = (load) => new Promise((resolve) => {
        closing.set(load, resolve);
        probe.postMessage({ pageOver: load });
        setTimeout(resolve, PATIENCE);
      });
      probe.onerror = load.onerror = ({ message }) => reject(new Error(message ?? "a script of this page could not be loaded"));
      load.onmessage = ({ data }) => {
        if (data.over) { found.load = data.over; told(); }
        if (data.moved && chart) {
          const { moved } = data, seconds = (moved.at - (chart.moved?.at ?? moved.at)) / 1000;
          const rate = (what) => mbps(((moved[what] - chart.moved[what]) * 8e-6) / seconds);
          if (seconds > 0) say(`Under load: ${rate("received")} down, ${rate("sent")} up.`);
          chart.moved = moved;
        }
      };
      probe.onmessage = ({ data }) => {
        if (data.begun) {
          const { plan, origin, without } = data.begun;
          carried = without === null ? "Round trips, packet loss and the call by datagrams (WebTransport)." : `Round trips over a WebSocket. Packet loss and a call were not measured: ${without}.`;
          chart = new Chart(plan);
          at("live").hidden = false;
          say("Measuring round trips without load.");
          visits(plan, origin, pageOver, over.signal).then((loads) => { found.pages = loads; told(); }, reject);
          load.postMessage({ base, run: plan.run, down: plan.down, up: plan.up, origin, start: origin + plan.load_start_ms, end: origin + plan.load_end_ms });
        }
        if (data.sample) {
          chart.add(data.sample);
          at("progress").value = data.sample[0] / chart.plan.total_ms;
        }
        if (data.pageClosed !== undefined) closing.get(data.pageClosed)?.();
        if (data.over) { found.probes = data.over; told(); }
        if (data.result) resolve(data.result);
        if (data.failed) reject(new Error(data.failed));
        if (data.closed) reject(new Error("the connection to the server was closed"));
      };
      probe.postMessage({ open: `${base}/v1/test` });
    });
    finish(result, carried);
  } catch (error) {
    at("progress").hidden = true;
    say(`Nothing was measured: ${error.message}.`);
  }
  chart?.stop();
  over.abort();
  probe.terminate();
  load.terminate();
  document.removeEventListener("visibilitychange", sees);
  button.disabled = false;
  button.textContent = "Start again";
}

at("start").addEventListener("click", start);
// For kiosks and programs: /#start begins by itself.
if (location.hash === "#start") start();
