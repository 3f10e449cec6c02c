// The page of a report: reads the value that the program put in, and shows it. Nothing is asked of any network.
import "./style.css";
import type { DescriptionReport, ExperimentReport, HistoryReport, Report, RunView } from "./data";
import { descriptionParts } from "./description";
import { h } from "./dom";
import { environment } from "./environment";
import { experimentParts } from "./experiment";
import { drawLazily, Figure, forget, preparePrinting, setTheme, type Spec } from "./figure";
import { answer, answers, bigAnswer } from "./figures/answer";
import { arrivals, burstTimes } from "./figures/bursts";
import { differences, quantileLines, rates, timelines } from "./figures/compare";
import { dns, voip } from "./figures/calls";
import { composed } from "./figures/composed";
import { equaliser } from "./figures/equaliser";
import { cpu, internals, streams } from "./figures/load";
import { transfers } from "./figures/pairs";
import { distribution, history, modes, traced } from "./figures/methods";
import { hops, lab, marks } from "./figures/path";
import { rate, roundTrips } from "./figures/rate";
import { replayFigures } from "./figures/replays";
import { rounds } from "./figures/rounds";
import { requests, rpm } from "./figures/rpm";
import { udpst } from "./figures/udpst";
import { scan } from "./figures/scan";
import { sequence } from "./figures/sequence";
import { boxes, spread } from "./figures/spread";
import { streams as probeStreams } from "./figures/streams";
import { sprt } from "./figures/sprt";
import { suite, verdictsByRun } from "./figures/suite";
import { timeline } from "./figures/timeline";
import { delaysOverTime, gaps, trains } from "./figures/trains";
import { badge } from "./figures/verdicts";
import { https, waterfall, web } from "./figures/web";
import { sendersWindow } from "./figures/window";
import { historyParts } from "./history";
import { DARK, LIGHT } from "./palette";
import { absent, origin, score, status, tiles, warnings } from "./top";

type Value = Report | ExperimentReport | HistoryReport | DescriptionReport;

function read(): Value | null {
  const value: unknown = JSON.parse(document.getElementById("report-data")?.textContent ?? "null");
  return value !== null && typeof value === "object" ? (value as Value) : null;
}

/** Most important first. */
function specs(run: RunView): Spec[] {
  const makers: ((run: RunView) => Spec | Spec[] | null)[] = [oneReplay, rpm, requests, udpst, answer, trains, probeStreams, delaysOverTime, distribution, history, modes, traced, gaps, suite, sprt, scan, rounds, arrivals, burstTimes, transfers, sequence, sendersWindow, rate, roundTrips, timeline, spread, boxes, streams, voip, web, waterfall, https, dns, hops, marks, lab, internals, cpu, equaliser];
  return makers.flatMap((make) => attempt(() => make(run)) ?? []);
}

const oneReplay = (run: RunView) => (run.replay ? replayFigures([run]) : null);

/** A record of another version may hold what a figure does not expect: then that figure is missing, and no other. */
function attempt<T>(make: () => T): T | null {
  try {
    return make();
  } catch (error) {
    console.error(error);
    return null;
  }
}

function contents(list: Spec[]): HTMLElement | null {
  if (list.length < 3) return null;
  const entry = (spec: Spec) => h("li", {}, h("a", { href: `#${spec.id}` }, NAMES[spec.id] ?? spec.title));
  return h("nav", { class: "contents", "aria-label": "Figures" }, h("ul", {}, ...list.map(entry)));
}

const NAMES: Record<string, string> = { timeline: "Over time", spread: "Distributions", boxes: "By stream", streams: "Load streams", voip: "Calls", web: "Web pages", waterfall: "Waterfall", https: "HTTPS", dns: "DNS", hops: "Path", strip: "Path over time", marks: "DSCP and ECN", queues: "Queues", tcp: "TCP", cpu: "Processors", equaliser: "Equaliser", transfers: "Transfers", sequence: "Time and sequence", window: "Window", rate: "Throughput and round trips", rtt: "Round trips", suite: "Tests", sprt: "Losses", scan: "Growing window", rounds: "Slow start", arrivals: "Departures and arrivals", "burst-times": "Bursts", durations: "Durations", responses: "Response times", strata: "By size", "queue-lengths": "Queue", "queue-time": "Queue over time", active: "Active connections", throughput: "Throughput", marginals: "Arrivals", logscale: "Long-range dependence", lateness: "Lateness", answer: "Answer", trains: "Trains", probes: "Probes", delays: "Delays", history: "Estimates", modes: "Modes", gaps: "Gaps", rpm: "Responsiveness", requests: "Requests", udpst: "Capacity" };

/** The verdict of tests of a path, or what was found of it, in large. */
const bigVerdict = (run: RunView) => (run.mbm && run.run.verdict ? [h("p", { class: "verdict-big" }, badge(run.run.verdict))] : bigAnswer(run));

function runPart(run: RunView, withSentence: boolean): HTMLElement {
  const list = specs(run);
  const part = h("article", { class: "run" });
  if (withSentence) part.append(...bigVerdict(run), h("p", { class: "sentence small" }, run.sentence));
  const before = [isFirst(run) ? null : status(run), ...[origin, absent, warnings, tiles, score].map((make) => attempt(() => make(run))), contents(list)];
  part.append(...before.filter((element) => element !== null), ...list.map((spec) => new Figure(spec).element), environment(run, list.length > 0));
  return part;
}

/** Whether the only run is one whose figures are not to be believed, or not all there: that is said above them. */
let doubtful: RunView | null = null;
const isFirst = (run: RunView) => run === doubtful;

/** The answers of runs that ask the same property of a path. */
const several = (runs: RunView[]) => (runs.filter(({ estimate }) => estimate).length > 1 ? answers(runs, "compare-") : null);

/** The runs as parts of one path, or why they are none. */
function wholePath(report: Report): HTMLElement[] {
  const spec = attempt(() => composed(report));
  const refused = report.composed?.refused;
  return [
    ...(spec ? [new Figure(spec).element] : []),
    ...(refused ? [h("p", { class: "about refused" }, `As parts of one path ${spec ? "not all tests of these runs" : "these runs"} cannot be put together: ${refused}.`)] : []),
  ];
}

function severalParts(report: Report): HTMLElement[] {
  const { runs, comparison } = report;
  const verdicts = verdictsByRun(runs);
  const replays = runs.filter(({ replay }) => replay).length > 1 ? attempt(() => replayFigures(runs, "compare-")) : null;
  const figures = [...(replays ?? []), attempt(() => several(runs)), quantileLines(runs), timelines(runs), rates(runs)].filter((spec) => spec !== null);
  const compared = h("section", { class: "comparison", "aria-label": "Comparison" }, h("h2", {}, "The runs side by side"),
    ...(verdicts ? [verdicts] : []),
    ...(comparison?.rows.length ? [differences(report, comparison)] : []),
    (verdicts || several(runs)) && !comparison?.rows.length ? null : h("p", { class: "about" }, "Intervals are of the difference between these two runs: each phase is cut into 20 blocks, whose medians are compared (Welch). They tell nothing of how runs differ from day to day."),
    ...figures.map((spec) => new Figure(spec).element), ...wholePath(report));
  const holder = h("div", { class: "holder" });
  const show = (index: number) => {
    forget(holder);
    holder.replaceChildren(...(runs[index] ? [runPart(runs[index], true)] : []));
  };
  const select = h("select", { id: "which-run" }, ...runs.map((run, i) => h("option", { value: String(i) }, run.name)));
  select.addEventListener("change", () => {
    show(Number(select.value));
    drawLazily();
  });
  show(0);
  const chooser = h("section", { class: "chooser" }, h("h2", {}, "One run in detail"), h("label", { for: "which-run" }, "Run "), select, holder);
  return [compared, chooser];
}

function header(brand: string, sentence: string, only?: RunView): HTMLElement {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let dark = system.matches;
  const button = h("button", { type: "button", class: "theme" });
  const apply = () => {
    document.documentElement.dataset["theme"] = dark ? "dark" : "light";
    button.textContent = dark ? "Light" : "Dark";
    button.setAttribute("aria-label", dark ? "Show in light colours" : "Show in dark colours");
    setTheme(dark ? DARK : LIGHT);
  };
  button.addEventListener("click", () => {
    dark = !dark;
    apply();
  });
  system.addEventListener("change", (event) => {
    dark = event.matches;
    apply();
  });
  apply();
  return h("header", {}, h("p", { class: "brand" }, brand), button, doubtful ? status(doubtful) : null, ...(only ? bigVerdict(only) : []), h("h1", { class: "sentence" }, sentence));
}

function start(): void {
  const page = document.getElementById("page");
  const report = read();
  if (!page) return;
  if (report && "experiment" in report) showExperiment(page, report);
  else if (report && "history" in report) showHistory(page, report);
  else if (report && "description" in report) showDescription(page, report);
  else if (report?.runs?.length) showRuns(page, report);
  else page.append(h("p", { class: "sentence" }, "This page has no figures in it."));
  preparePrinting();
  drawLazily();
  performance.mark("isobath-ready");
}

const footer = (version: string) => h("footer", {}, `Made by isobath ${version}. Saved figures and this page may be published.`);

function showExperiment(page: HTMLElement, { experiment, isobath }: ExperimentReport): void {
  document.title = `${experiment.name} – Isobath experiment`;
  page.append(header("isobath experiment", experiment.title), h("main", {}, ...experimentParts(experiment)), footer(isobath));
}

function showHistory(page: HTMLElement, report: HistoryReport): void {
  const { name, sentence } = report.history;
  document.title = `${name} – Isobath history`;
  page.append(header("isobath report", sentence), h("main", {}, ...historyParts(report)), footer(report.isobath));
}

function showDescription(page: HTMLElement, { description, isobath }: DescriptionReport): void {
  document.title = `${description.name} – Isobath`;
  page.append(header(description.made_by, description.sentence), h("main", {}, ...descriptionParts(description)), footer(isobath));
}

function showRuns(page: HTMLElement, report: Report): void {
  const only = report.runs.length === 1 ? report.runs[0] : undefined;
  doubtful = only && only.run.status !== "complete" ? only : null;
  document.title = `${only ? only.name : `${report.runs.length} runs`} – Isobath report`;
  page.append(header("isobath report", report.sentence, only), h("main", {}, ...(only ? [runPart(only, false)] : severalParts(report))), footer(report.isobath));
}

start();
