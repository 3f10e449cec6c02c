// How bursty the packets are that arrive at the bottleneck: their number per second and per 10 ms, and their memory over all scales.
import { axisStyle, FONT, heightOf, legend, legendGrowth, panelTitle, stack, valueAxis, type Option, type Series } from "../chart";
import type { Hurst, ReplayArrivals } from "../data";
import { count, digits } from "../format";
import type { Theme } from "../palette";
import type { Spec } from "../figure";
import { tip, tooltip } from "../tip";
import { overlay, type Member } from "./overlay";
import { scale } from "./load";
import type { Shown } from "./replay";

const width = (s: number) => (s >= 1 ? `${Number(s.toPrecision(3))} s` : `${Number((s * 1e3).toPrecision(3))} ms`);

export function marginals(shown: Shown[]): Spec | null {
  const single = shown.length === 1;
  const colours: ((theme: Theme) => string)[] = [(t) => t.vermillion, (t) => t.blue];
  const all: (Member & { cov: number | null; bin: number; replay: string; sd: number })[] = shown.flatMap(({ name, colour, dash, replay }) =>
    (replay.arrivals?.marginals ?? []).filter(({ bin_s }) => single || bin_s < 1).map(({ bin_s, cov, kpps, sd_kpps }, i) => ({ name: single ? `bins of ${width(bin_s)}` : name, colour: single ? colours[i % 2]! : colour, dash: !single && dash, of: kpps, cov, bin: bin_s, replay: name, sd: sd_kpps })));
  if (!all.length) return null;
  const told = all.filter(({ cov }) => cov !== null);
  const spec = overlay({
    id: "marginals", what: "bins", quantity: "arrivals", unit: "kpackets/s", members: all,
    title: single ? `Arrivals vary by ${told.map(({ cov, bin }) => `${digits(cov! * 100)} % in bins of ${width(bin)}`).join(" and ")} (coefficient of variation)` : `In bins of 10 ms arrivals vary by ${told.map(({ name, cov }) => `${digits(cov! * 100)} % (${name})`).join(", ")}`,
    ends: [scale(Math.max(...all.map(({ of }) => of.p99)) * 1.15).max],
    about: "Packets that arrived at the queue of the bottleneck in the forward direction, by bin, in the part of the run that counts.",
    howTo: ["The steeper a curve, the evener the packets come.", "The coefficient of variation is the standard deviation over the mean.", "For arrivals that forget, bins a hundred times as wide vary by a tenth; where they vary by more, bursts last."],
  });
  return spec && {
    ...spec, table: () => ({ head: ["replay", "bin", "bins", "mean, kpackets/s", "s.d., kpackets/s", "CoV", "min", "median", "max"], rows: all.map(({ replay, bin, of, cov, sd }) => [replay, width(bin), count(of.n), digits(of.mean), digits(sd), cov === null ? null : cov.toFixed(4), digits(of.min), digits(of.p50), digits(of.max)]) }),
  };
}

const value = ({ value, low, high }: Hurst) => `${value.toFixed(3)} (95 %: ${low.toFixed(3)} to ${high.toFixed(3)})`;

/** The energy of each octave with its 95 % interval, and the line that the estimate is from. */
function ofOne({ name, colour, dash }: Shown, { octaves, hurst }: ReplayArrivals, theme: Theme, several: boolean): Series[] {
  const paint = colour(theme);
  const bars = {
    type: "custom", name: `${name}, interval`, silent: true, tooltip: { show: false }, encode: { x: 0, y: [1, 2] }, itemStyle: { color: paint },
    data: octaves.map(({ octave, log2_energy, error }) => [octave, log2_energy - 1.96 * error, log2_energy + 1.96 * error]),
    renderItem: (_: unknown, api: any) => {
      const [[x, low], [, high]] = [api.coord([api.value(0), api.value(1)]), api.coord([api.value(0), api.value(2)])];
      return { type: "line", shape: { x1: x, y1: low, x2: x, y2: high }, style: { stroke: paint, lineWidth: 1.3 } };
    },
  };
  const points = { type: "line", name, data: octaves.map(({ octave, log2_energy }) => [octave, log2_energy]), symbol: "circle", symbolSize: 6, showSymbol: true, itemStyle: { color: paint }, lineStyle: { color: paint, width: several ? 1.2 : 0.8, opacity: several ? 0.8 : 0.5, ...(dash ? { type: [4, 3] } : {}) }, emphasis: { disabled: true } };
  const line = hurst && { type: "line", name: several ? name : "fitted line", data: [hurst.from_octave, hurst.to_octave].map((j) => [j, hurst.intercept + (2 * hurst.value - 1) * j]), showSymbol: false, silent: true, tooltip: { show: false }, lineStyle: { color: several ? paint : theme.vermillion, width: 2.4, opacity: 0.75 }, itemStyle: { color: several ? paint : theme.vermillion }, emphasis: { disabled: true } };
  return [bars, points, ...(line ? [line] : [])] as unknown as Series[];
}

function finding(all: Hurst[]): string {
  if (!all.length) return "Too few octaves for a Hurst parameter";
  const unsteady = (one: Hurst) => (one.low > 1 ? ": no stationary traffic has one above 1" : "");
  if (all.length === 1) return `The Hurst parameter of the arrivals is ${value(all[0]!)}${unsteady(all[0]!)}`;
  const values = all.map(({ value }) => value);
  const between = `Hurst parameters of the arrivals are ${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)}`;
  const overlap = Math.max(...all.map(({ low }) => low)) <= Math.min(...all.map(({ high }) => high));
  return `${between}; their intervals ${overlap ? "overlap: no difference is seen" : "do not all overlap"}`;
}

export function spectrum(all: Shown[]): Spec | null {
  const shown = all.flatMap((one) => (one.replay.arrivals?.octaves.length ? [{ one, arrivals: one.replay.arrivals }] : []));
  const first = shown[0];
  if (!first) return null;
  const several = shown.length > 1;
  const bin = first.arrivals.bin_s;
  const draw = (theme: Theme, wide: number) => {
    const entries = several ? shown.map(({ one: { name, colour, dash } }) => ({ name, colour: colour(theme), ...(dash ? { dash } : {}) })) : [{ name: first.one.name, colour: first.one.colour(theme) }, ...(first.arrivals.hurst ? [{ name: "fitted line", colour: theme.vermillion }] : [])];
    const [place] = stack(wide, [260], 0, 58, 58 + legendGrowth(entries.map(({ name }) => name), wide));
    const last = Math.max(...shown.flatMap(({ arrivals }) => arrivals.octaves.map(({ octave }) => octave)));
    const heights = shown.flatMap(({ arrivals }) => arrivals.octaves.flatMap(({ log2_energy, error }) => [log2_energy - 1.96 * error, log2_energy + 1.96 * error]));
    const each = wide / last > 62 ? 1 : wide / last > 31 ? 2 : 4;
    const option = {
      title: [panelTitle("log₂ of the energy of an octave", place!, theme)], legend: legend(theme, entries), grid: [place],
      xAxis: [{ ...axisStyle(theme), type: "value", min: 0.5, max: last + 0.5, interval: 1, splitLine: { show: false }, name: "octave, and the time that it tells of", nameLocation: "middle", nameGap: 40, axisTick: { show: false }, axisLabel: { show: false }, axisLine: { onZero: false, lineStyle: { color: theme.faint } } }],
      yAxis: [valueAxis(0, theme, { min: 2 * Math.floor(Math.min(...heights) / 2), max: 2 * Math.ceil(Math.max(...heights) / 2), splitNumber: 5 })],
      tooltip: tooltip(theme, "item", ({ value: at, seriesName }: { value: [number, number]; seriesName: string }) => tip(`octave ${at[0]}: changes over ${width(bin * 2 ** at[0])}`, [{ name: seriesName, value: digits(at[1]) }])),
      series: [labels(last, bin, each, theme), ...shown.flatMap(({ one, arrivals }) => ofOne(one, arrivals, theme, several))],
    };
    return { option: option as unknown as Option, height: heightOf([place!], 58) };
  };
  const row = (name: string, hurst: Hurst, chosen: boolean) => [name, chosen ? "chosen" : "", `${hurst.from_octave} to ${hurst.to_octave}`, width(bin * 2 ** hurst.from_octave), hurst.value.toFixed(4), hurst.low.toFixed(4), hurst.high.toFixed(4), hurst.fit < 0.001 ? "< 0.001" : hurst.fit.toFixed(3)];
  return {
    id: "logscale", title: finding(shown.flatMap(({ arrivals: { hurst } }) => hurst ?? [])),
    about: `Logscale diagram: mean square of the wavelet coefficients (Daubechies, three vanishing moments) of packets per ${width(bin)}, with 95 % intervals; the line is fitted from the first octave on from which it is not refuted at 1 %.`,
    howTo: ["Each point is how much the number of packets changes over the time below it.", "A flat line is traffic that forgets (0.5); a rising one is traffic whose bursts last over all those scales, and the slope gives the Hurst parameter.", "Bends below a second are round trips and protocols at work.", "The table has the estimate from every octave: rely on it only where it does not depend on the choice."],
    draw,
    table: () => ({ head: ["replay", "", "octaves", "from", "Hurst parameter", "low (95 %)", "high (95 %)", "fit, p"], rows: shown.flatMap(({ one, arrivals: { hurst, hurst_from } }) => hurst_from.map((from) => row(one.name, from, from.from_octave === hurst?.from_octave))) }),
  };
}

/** Below the axis the octave and its time: an axis of numbers has labels of one line only. */
function labels(last: number, bin: number, each: number, theme: Theme): Series {
  return {
    type: "custom", silent: true, tooltip: { show: false }, data: Array.from({ length: last }, (_, i) => [i + 1]).filter(([j]) => j! % each === 0), encode: { x: 0 }, clip: false,
    renderItem: ({ coordSys }: any, api: any) => {
      const j = api.value(0);
      const text = { x: api.coord([j, 0])[0], textAlign: "center", fill: theme.faint, fontSize: 11, fontFamily: FONT };
      const y = coordSys.y + coordSys.height;
      return { type: "group", children: [{ type: "text", style: { ...text, y: y + 6, text: String(j) } }, { type: "text", style: { ...text, y: y + 20, text: width(Number((bin * 2 ** j).toPrecision(2))) } }] };
    },
  } as unknown as Series;
}

