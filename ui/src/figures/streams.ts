// Streams of an estimator laid over each other, probe by probe: a stream that is faster than what is available climbs.
import { axisStyle, heightOf, legend, panelTitle, stack, valueAxis, type Option, type Series } from "../chart";
import type { EstimateDelays, RunView } from "../data";
import type { Spec } from "../figure";
import { count, digits, ms } from "../format";
import type { Theme } from "../palette";
import { lastAt, tip, tooltip } from "../tip";
import { median } from "./transfers";

type Train = EstimateDelays["overlaid"][number];

const climb = ({ ms }: Train) => (ms.at(-1) ?? 0) - (ms[0] ?? 0);

/** Trains many times as long as the others have a panel of their own: a check at the end, such as for a token bucket. */
function groups(all: Train[]): { title: string; trains: Train[] }[] {
  const usual = median(all.map(({ probe }) => probe.at(-1) ?? 0));
  const isLong = ({ probe }: Train) => (probe.at(-1) ?? 0) > 4 * usual;
  const title = "One-way delay above the least of the run, ms";
  const made = [{ title, trains: all.filter((train) => !isLong(train)) }, { title: "The same of trains more than four times as long, ms", trains: all.filter(isLong) }];
  return made.filter(({ trains }) => trains.length);
}

/** Earlier trains are fainter; the last one stands out. */
function lines(panel: number, all: Train[], theme: Theme): Series[] {
  return all.map((train, i) => {
    const last = i === all.length - 1;
    const colour = last ? theme.vermillion : theme.blue;
    const style = { color: colour, width: last ? 2 : 1.1, opacity: last ? 1 : 0.3 + (0.55 * i) / Math.max(1, all.length - 1) };
    return { type: "line", name: last ? "the last of them" : "those before it", xAxisIndex: panel, yAxisIndex: panel, data: train.probe.map((n, k) => [n, train.ms[k]]), showSymbol: train.probe.length < 3, symbolSize: 3, lineStyle: style, itemStyle: { color: colour }, emphasis: { disabled: true }, z: last ? 4 : 2 } as Series;
  });
}

function axisOf(panel: number, all: Train[], theme: Theme): object {
  const style = axisStyle(theme) as { axisLabel: object };
  const end = Math.max(1, ...all.map(({ probe }) => probe.at(-1) ?? 0));
  return { ...style, type: "value", gridIndex: panel, min: 0, max: end, minInterval: 1, splitLine: { show: false }, name: "place of the probe in its train", nameLocation: "middle", nameGap: 26, axisLabel: { ...style.axisLabel, showMaxLabel: false },
    axisPointer: { show: true, type: "line", snap: false, lineStyle: { color: theme.faint, type: "dashed" }, label: { show: false } } };
}

function draw(all: Train[], theme: Theme, width: number): { option: Option; height: number } {
  const made = groups(all);
  const places = stack(width, made.map((_, i) => (i ? 150 : 260)), 78, 58, 58);
  const entries = [...(all.length > 1 ? [{ name: "those before it", colour: theme.blue }] : []), { name: "the last of them", colour: theme.vermillion }];
  const option = {
    title: made.map(({ title }, i) => panelTitle(title, places[i]!, theme)), grid: places, legend: legend(theme, entries),
    xAxis: made.map(({ trains }, i) => axisOf(i, trains, theme)), yAxis: made.map((_, i) => valueAxis(i, theme, { min: 0, splitNumber: i ? 3 : 4 })),
    tooltip: tooltip(theme, "axis", (given: { axisValue: number; axisIndex: number }[]) => {
      const [n, panel] = [Math.round(Number(given[0]?.axisValue ?? 0)), given[0]?.axisIndex ?? 0];
      const told = [...(made[panel]?.trains ?? [])].reverse().flatMap((train, i) => {
        const k = lastAt(train.probe, n, (j) => train.probe[j] ?? 0);
        return k < 0 || n > (train.probe.at(-1) ?? 0) ? [] : [{ colour: i ? theme.blue : theme.vermillion, name: `train ${count(train.train)}, at ${digits(train.t_s)} s`, value: ms(train.ms[k]) }];
      });
      return tip(`probe ${count(n)}`, told);
    }),
    series: made.flatMap(({ trains }, i) => lines(i, trains, theme)),
  };
  return { option: option as unknown as Option, height: heightOf(places) };
}

export function streams(run: RunView): Spec | null {
  const all = (run.estimate?.delays?.overlaid ?? []).filter(({ probe }) => probe.length > 1);
  const last = all.at(-1);
  if (!last) return null;
  const highest = Math.max(...all.flatMap((train) => train.ms));
  const before = all.length > 1 ? `In the last ${all.length} trains` : "In the last train";
  return {
    id: "probes", zoom: groups(all).length === 1, title: `${before} a probe waited up to ${ms(highest)} longer than the luckiest of the run`,
    about: "The last trains laid over each other: how long each probe took from its departure to its arrival, less the least of the run. The two clocks need not agree, but a drift between them tilts the lines.",
    howTo: [
      "A line that climbs is a train that was faster than what was available: each probe found a longer queue than the one before.",
      "A flat line is a train that was not, and one that climbs and falls again met others on its way.",
      "The estimate lies between the fastest train that stayed flat and the slowest one that climbed; of a chirp it is the rate at which the line leaves the ground for good.",
    ],
    draw: (theme, width) => draw(all, theme, width),
    table: () => ({ head: ["train", "left at, s", "arrived", "lost", "first, ms", "median, ms", "last, ms", "highest, ms", "climbed by, ms"], rows: all.map((train) => [count(train.train), digits(train.t_s), count(train.arrived), count(train.lost), digits(train.ms[0]), digits(median(train.ms)), digits(train.ms.at(-1)), digits(Math.max(...train.ms)), digits(climb(train))]) }),
  };
}
