// Isochronous streams: would a call over this path be pleasant? And name look-ups.
import { heightOf, legend, panelTitle, shades, stack, timeAxis, valueAxis, type Option } from "../chart";
import { numberAt, probesOf, type Found, type Num, type Probe, type RunView, type Stream } from "../data";
import { digits, ms, pct } from "../format";
import { h, table } from "../dom";
import { byClass, classColour, classWords, type Theme } from "../palette";
import type { Spec } from "../figure";
import { timeTip } from "../tip";
import { lineSeries, rug } from "./timeline";

type Call = { probe: Probe; stream: Stream };

const calls = (run: RunView, direction: string): Call[] => probesOf(run, "voip").filter(({ stream }) => stream.direction === direction).sort((a, b) => byClass(a.stream.class, b.stream.class));

function draw(run: RunView, theme: Theme, width: number): { option: Option; height: number } {
  const directions = ["up", "down"].filter((direction) => calls(run, direction).length);
  const places = stack(width, directions.map(() => 140), 46, 58, 58);
  const named: ({ name: string; text: (v: number) => string } | null)[] = [];
  const series = directions.flatMap((direction, i) => {
    named.push(null);
    const lines = calls(run, direction).reverse().flatMap(({ probe, stream }, row) => {
      const colour = classColour(stream.class, theme);
      named.push({ name: `${direction} ${stream.class}`, text: ms }, null);
      return [lineSeries(i, classWords(stream.class), probe.line_ms, colour), rug(i, "lost", probe.lost.t_s, colour, row)];
    });
    return [shades(i, run.phases, theme, i === 0), ...lines];
  });
  const classes = [...new Set(directions.flatMap((direction) => calls(run, direction).map(({ stream }) => stream.class)))].sort(byClass);
  const option = {
    title: directions.map((direction, i) => panelTitle(`One-way delay ${direction}, ms`, places[i]!, theme)),
    legend: legend(theme, classes.map((name) => ({ name: classWords(name), colour: classColour(name, theme) }))),
    grid: places,
    xAxis: directions.map((_, i) => timeAxis(i, run.end_s, theme, i === directions.length - 1)),
    yAxis: directions.map((_, i) => valueAxis(i, theme, { min: 0 })),
    axisPointer: { link: [{ xAxisIndex: "all" }] },
    tooltip: timeTip(theme, (_, i) => named[i] ?? null, series, true),
    series,
  };
  return { option: option as unknown as Option, height: heightOf(places) };
}

const share = (found: Found | null, what: "lost" | "late"): Num => (found && found.sent ? (found[what] / found.sent) * 100 : null);
const longest = (found: Found | null): Num => (found ? Math.max(0, ...found.bursts.map(([length]) => length)) : null);
/** RFC 5481: delay variation against the shortest delay of the stream. */
const variation = (found: Found | null, probe: Probe): Num => {
  const least = Math.min(...[probe.idle?.ms?.min, probe.loaded?.ms?.min].filter((v): v is number => v !== undefined && v !== null));
  return found?.ms ? found.ms.p99 - least : null;
};

function quality(run: RunView): HTMLElement {
  const rows = ["up", "down"].flatMap((direction) => calls(run, direction)).flatMap(({ probe, stream }) =>
    (["idle", "loaded"] as const).flatMap((phase) => {
      const found = probe[phase];
      if (!found) return [];
      // The summary tells the phase from its own least delay; where it says nothing, the rows themselves are counted.
      const told = (key: string) => numberAt(run.run.summary, `voip.${stream.class}.${stream.direction}.${phase}.${key}`);
      const [mos, adaptive] = [told("mos"), told("adaptive.mos")];
      const rated = (value: number | null) => value === null ? "–" : `${value.toFixed(2)} ${mosWord(value)}`;
      return [[`${stream.class} ${stream.direction}`, phase, rated(mos), rated(adaptive), ms(found.ms?.p50), ms(told("jitter_ms") ?? variation(found, probe)), pct(told("loss_pct") ?? share(found, "lost")), pct(told("late_pct") ?? share(found, "late")), told("longest_loss_run") ?? longest(found)]];
    }));
  return h("div", { class: "below" }, table({ head: ["class", "phase", "MOS (1 to 4.5)", "MOS, adaptive buffer", "delay, median", "delay variation, 99 %", "lost", "late > 30 ms", "longest loss, datagrams"], rows }, "Quality of calls by class and direction"));
}

/** ITU-T G.107 annex B: what users say of a MOS. */
function mosWord(mos: number): string {
  if (mos >= 4.34) return "very satisfied";
  if (mos >= 4.03) return "satisfied";
  if (mos >= 3.6) return "some dissatisfied";
  if (mos >= 3.1) return "many dissatisfied";
  return mos >= 2.58 ? "nearly all dissatisfied" : "not usable";
}

export function voip(run: RunView): Spec | null {
  const all = probesOf(run, "voip");
  if (!all.length) return null;
  const worst = all.flatMap(({ stream }) => {
    const mos = numberAt(run.run.summary, `voip.${stream.class}.${stream.direction}.loaded.mos`);
    return mos === null ? [] : [{ mos, name: `${stream.class} ${stream.direction}` }];
  }).sort((a, b) => a.mos - b.mos)[0];
  const late = Math.max(...all.map(({ probe }) => share(probe.loaded, "late") ?? 0));
  const title = worst ? (worst.mos >= 4.03 ? `Calls stay good under load (worst MOS ${worst.mos.toFixed(2)}, ${worst.name})` : `Calls suffer under load: MOS ${worst.mos.toFixed(2)} for ${worst.name}, ${mosWord(worst.mos)}`) : `Up to ${pct(late)} of a call's datagrams come too late under load`;
  return {
    id: "voip", zoom: true, title,
    about: "A datagram of a G.711 call every 10 or 20 ms each way: minimum and maximum per bin; strokes at the foot are lost ones. Delays are as right as the two clocks.",
    howTo: [
      "The lines are how long the sound is on its way in each direction.",
      "Good is flat, below 150 ms, without strokes; a jitter buffer must cover the height of the band, and what comes more than 30 ms late counts as lost.",
      "MOS is the E-model's guess (ITU-T G.107) of what callers would say (above 4 is good, below 3.1 bad), with a jitter buffer of 30 ms and with one that waits as long as the path makes it.",
      "Where one class stays flat and the others do not, mark calls with that class.",
    ],
    draw: (theme, width) => draw(run, theme, width), html: () => quality(run),
    table: () => ({
      head: ["stream", "phase", "sent", "lost", "late", "p50, ms", "p95, ms", "p99, ms", "max, ms", "bursts (length: how often)"],
      rows: all.flatMap(({ probe, stream }) => (["idle", "loaded"] as const).flatMap((phase) => {
        const found = probe[phase];
        return found ? [[stream.name, phase, found.sent, found.lost, found.late, digits(found.ms?.p50), digits(found.ms?.p95), digits(found.ms?.p99), digits(found.ms?.max), found.bursts.slice(-12).map(([length, n]) => `${length}: ${n}`).join(", ")]] : [];
      })),
    }),
  };
}

export function dns(run: RunView): Spec | null {
  const all = probesOf(run, "dns");
  if (!all.length) return null;
  const idle = all[0]!.probe.idle?.ms?.p50 ?? null;
  const loaded = all[0]!.probe.loaded?.ms?.p50 ?? null;
  const lost = Math.max(0, ...all.map(({ probe }) => share(probe.loaded, "lost") ?? 0));
  const title = loaded !== null && idle !== null ? `A name look-up takes ${ms(loaded)} under load, ${ms(idle)} idle${lost > 0 ? `; ${pct(lost)} are never answered` : ""}` : `A name look-up takes ${ms(idle ?? loaded)}`;
  return {
    id: "dns", zoom: true, title, about: "Each look-up; strokes at the foot are unanswered ones.",
    howTo: ["Every new site begins with look-ups, so their delay is felt before anything is seen.", "Good is flat. A lost look-up costs the resolver's time-out, often seconds."],
    draw: (theme, width) => {
      const places = stack(width, [120], 46, 58, 30);
      const series = [shades(0, run.phases, theme, true), ...all.flatMap(({ probe }, i) => [lineSeries(0, "DNS", probe.line_ms, classColour("CS0", theme)), rug(0, "lost", probe.lost.t_s, theme.vermillion, i)])];
      const option = { title: [panelTitle("DNS look-up, ms", places[0]!, theme)], grid: places, xAxis: [timeAxis(0, run.end_s, theme, true)], yAxis: [valueAxis(0, theme, { min: 0 })], tooltip: timeTip(theme, (_, i) => (i % 2 ? { name: "DNS look-up", text: ms } : null), series), series };
      return { option: option as unknown as Option, height: heightOf(places) };
    },
    table: () => ({
      head: ["stream", "phase", "sent", "lost", "p50, ms", "p95, ms", "p99, ms", "max, ms"],
      rows: all.flatMap(({ probe, stream }) => (["idle", "loaded"] as const).flatMap((phase) => (probe[phase] ? [[stream.name, phase, probe[phase]!.sent, probe[phase]!.lost, digits(probe[phase]!.ms?.p50), digits(probe[phase]!.ms?.p95), digits(probe[phase]!.ms?.p99), digits(probe[phase]!.ms?.max)]] : []))),
    }),
  };
}
