// The specification's graphic equaliser: what remains under load of each class's quality, over each protocol.
import { axisStyle, FONT, heightOf, legend, panelTitle, tiles, valueAxis, type Option, type Series } from "../chart";
import { numberAt, probesOf, streamOf, type Found, type RunView } from "../data";
import { digits } from "../format";
import { byClass, classColour, classWords, type Theme } from "../palette";
import type { Spec } from "../figure";
import { tip, tooltip } from "../tip";

const BANDS = ["TCP round trip", "UDP round trip", "VoIP up", "VoIP down", "TCP share down", "TCP share up"];

/** Per cent that remain, by band and class; null where that was not measured. */
type Levels = Map<string, (number | null)[]>;

const inTime = (found: Found | null) => (found && found.sent ? 1 - (found.lost + found.late) / found.sent : null);

function average(values: (number | null)[]): number | null {
  const known = values.filter((v): v is number => v !== null && Number.isFinite(v));
  return known.length ? Math.min(100, known.reduce((a, b) => a + b, 0) / known.length) : null;
}

function roundTrips(run: RunView, kind: string, family: number, name: string): number | null {
  const all = probesOf(run, kind).filter(({ stream }) => stream.family === family && stream.class === name);
  return average(all.map(({ probe }) => (probe.idle?.ms && probe.loaded?.ms ? (probe.idle.ms.p50 / probe.loaded.ms.p50) * 100 : null)));
}

/** Share in time by the summary, which judges each phase by its own least delay; it knows no families. */
function told(run: RunView, direction: string, name: string, phase: string): number | null {
  const families = new Set(probesOf(run, "voip").map(({ stream }) => stream.family));
  const [lost, late] = ["loss_pct", "late_pct"].map((key) => numberAt(run.run.summary, `voip.${name}.${direction}.${phase}.${key}`));
  return families.size > 1 || lost === null || late === null || lost === undefined || late === undefined ? null : 1 - (lost + late) / 100;
}

function voip(run: RunView, direction: string, family: number, name: string): number | null {
  const all = probesOf(run, "voip").filter(({ stream }) => stream.family === family && stream.class === name && stream.direction === direction);
  return average(all.map(({ probe }) => {
    const [idle, loaded] = [told(run, direction, name, "idle") ?? inTime(probe.idle), told(run, direction, name, "loaded") ?? inTime(probe.loaded)];
    return idle && loaded !== null ? (loaded / idle) * 100 : null;
  }));
}

function share(run: RunView, direction: string, family: number, name: string): number | null {
  const flows = run.tcp.flows.filter((flow) => flow.direction === direction && flow.loaded_mbps !== null);
  const equal = flows.reduce((a, flow) => a + (flow.loaded_mbps ?? 0), 0) / flows.length;
  const own = flows.filter((flow) => streamOf(run, flow.stream)?.family === family && streamOf(run, flow.stream)?.class === name);
  return equal > 0 ? average(own.map((flow) => ((flow.loaded_mbps ?? 0) / equal) * 100)) : null;
}

function levels(run: RunView, family: number): Levels {
  const classes = [...new Set(run.streams.filter((stream) => stream.family === family && ["tcp_rr", "udp_rr", "voip", "tcp_load", "quic_load", "udp_load"].includes(stream.kind)).map((stream) => stream.class))].sort(byClass);
  return new Map(classes.map((name) => [name, [roundTrips(run, "tcp_rr", family, name), roundTrips(run, "udp_rr", family, name), voip(run, "up", family, name), voip(run, "down", family, name), share(run, "down", family, name), share(run, "up", family, name)]]));
}

export function equaliser(run: RunView): Spec | null {
  const families = [4, 6].map((family) => ({ family, of: levels(run, family) })).filter(({ of }) => [...of.values()].some((bands) => bands.some((v) => v !== null)));
  if (!families.length || !run.phases.loaded) return null;
  const bandsOf = (of: Levels) => BANDS.map((_, i) => i).filter((i) => [...of.values()].some((bands) => bands[i] !== null && bands[i] !== undefined));
  // Of bandwidth there is no unloaded value; it is drawn, and not in the mean.
  const all = families.flatMap(({ of }) => [...of.values()].flatMap((bands) => bands.slice(0, 4))).filter((v): v is number => v !== null);
  const mean = all.reduce((a, b) => a + b, 0) / all.length;
  const draw = (theme: Theme, width: number) => {
    const places = tiles(width, families.length, 1, 170, { top: 58, gapY: 74 });
    const drawn = families.flatMap(({ family, of }, panel) => [...of].map(([name, bands]) => ({ panel, family, name, data: bandsOf(of).map((i) => bands[i] ?? null) })));
    const classes = [...new Set(drawn.map(({ name }) => name))].sort(byClass);
    const option = {
      title: families.map(({ family }, i) => panelTitle(`IPv${family}: what remains under load, %`, places[i]!, theme)),
      legend: { ...legend(theme, classes.map((name) => ({ name: classWords(name), colour: classColour(name, theme) }))), itemHeight: 8 },
      grid: places,
      xAxis: families.map(({ of }, i) => ({ ...axisStyle(theme), type: "category", gridIndex: i, data: bandsOf(of).map((band) => BANDS[band]!.replace(" round trip", "\nround trip").replace("TCP share", "TCP\nshare")), splitLine: { show: false }, axisTick: { show: false }, axisLabel: { color: theme.ink, fontSize: 11, lineHeight: 14, fontFamily: FONT, interval: 0 } })),
      yAxis: families.map((_, i) => valueAxis(i, theme, { min: 0, max: 100, interval: 25 })),
      tooltip: tooltip(theme, "axis", (given: { axisIndex: number; dataIndex: number; seriesIndex: number; color: string; value: number | null }[]) => {
        const family = families[given[0]?.axisIndex ?? 0];
        const band = family ? bandsOf(family.of)[given[0]?.dataIndex ?? 0] : undefined;
        return tip(`${BANDS[band ?? 0]}, IPv${family?.family}`, given.map(({ seriesIndex, color, value }) => ({ colour: color, name: drawn[seriesIndex]?.name ?? "", value: value === null || value === undefined ? "–" : `${digits(value)} %` })));
      }),
      series: drawn.map(({ panel, name, data }): Series => ({ type: "pictorialBar", symbol: "rect", symbolRepeat: true, symbolClip: true, symbolSize: ["100%", 6], symbolMargin: 1.25, name: classWords(name), xAxisIndex: panel, yAxisIndex: panel, data, barMaxWidth: 26, label: { show: width > 560, position: "top", distance: 2, fontSize: 10, fontFamily: FONT, color: theme.faint, formatter: ({ value }: { value: number | null }) => (value === null || value === undefined ? "" : value.toFixed(0)) }, barGap: "25%", barCategoryGap: "30%", itemStyle: { color: classColour(name, theme) }, emphasis: { disabled: true } } as Series)),
    };
    return { option: option as unknown as Option, height: heightOf(places, 52) };
  };
  return {
    id: "equaliser", title: all.length ? `Under load ${digits(mean)} % of the unloaded quality remain, over all classes and protocols` : "How the bandwidth is shared",
    about: "Round trips: idle median over loaded median. VoIP: share of datagrams in time, against idle. TCP: share of bandwidth against an equal share, at most 100 %.",
    howTo: ["Full columns are what the unloaded path offers; what is missing is what the load takes away.", "Good is a picture that is full everywhere; one full colour among short ones is a class that the path prefers.", "IPv4 and IPv6 should look alike."],
    draw,
    table: () => ({ head: ["class", "IP", ...BANDS.map((band) => `${band}, %`)], rows: families.flatMap(({ family, of }) => [...of].map(([name, bands]) => [name, `IPv${family}`, ...bands.map((v) => digits(v))])) }),
  };
}
