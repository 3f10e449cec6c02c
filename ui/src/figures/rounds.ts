// Rounds of slow start until something is lost: how much the bottleneck lets in, and when it says stop (RFC 8337 section 8.3.2).
import { axisStyle, FONT, heightOf, panelTitle, tiles, valueAxis, type Option, type Series } from "../chart";
import type { MbmRound, MbmTest, Num, RunView } from "../data";
import type { Spec } from "../figure";
import { count, digits, ms } from "../format";
import type { Theme } from "../palette";
import { tip, tooltip } from "../tip";
import { median } from "./transfers";
import { having } from "./verdicts";

const name = (i: number) => `round ${i + 1}`;

function bars(i: number, what: string, values: Num[], colour: string, limits: number[], theme: Theme): Series {
  const label = { show: true, position: "inside", color: theme.paper, fontWeight: 600, fontSize: 11, fontFamily: FONT, formatter: ({ value }: { value: Num }) => (Number.isInteger(value) ? count(value) : digits(value)) };
  const most = Math.max(...values.map((v) => v ?? 0), ...limits);
  // A number that does not fit into its bar stands on it.
  const data = values.map((value) => (value !== null && value < most * 0.2 ? { value, label: { position: "top", color: theme.ink } } : { value }));
  return { type: "bar", name: what, xAxisIndex: i, yAxisIndex: i, data, itemStyle: { color: colour }, barMaxWidth: 34, label, emphasis: { disabled: true },
    markLine: { silent: true, symbol: "none", lineStyle: { color: theme.ink, type: "dashed", width: 1.2 }, label: { show: true, position: "insideEndTop", color: theme.ink, fontSize: 11, fontFamily: FONT, formatter: ({ dataIndex }: { dataIndex: number }) => (dataIndex ? `at most ${ms(limits[1])}` : `at least ${ms(limits[0])}`) }, data: limits.map((yAxis) => ({ yAxis })) } } as unknown as Series;
}

function draw(rounds: MbmRound[], target: Num, theme: Theme, width: number): { option: Option; height: number } {
  const [waits, before] = [rounds.map(({ waited_ms }) => waited_ms), rounds.map(({ before_mark }) => before_mark)];
  const longest = Math.max(1, ...waits.map((v) => v ?? 0));
  // Where the upper limit is far away, it would flatten all bars.
  const limits = target === null ? [] : [target / 2, target * 2].filter((limit, i) => i === 0 || limit < longest * 3);
  const places = tiles(width, 2, width > 560 ? 2 : 1, 150, { top: 30, gapY: 60, gapX: 60 });
  const y = (values: Num[]) => ({ min: 0, max: Math.max(1, ...values.map((v) => v ?? 0)) * 1.2, axisLabel: { showMaxLabel: false, color: theme.faint, fontSize: 11, fontFamily: FONT } });
  const category = (i: number) => ({ ...axisStyle(theme), type: "category", gridIndex: i, data: rounds.map((_, k) => name(k)), splitLine: { show: false }, axisTick: { show: false } });
  const option = {
    title: [panelTitle("First packet behind the first loss waited, ms", places[0]!, theme), panelTitle("Packets delivered before it", places[1]!, theme)], grid: places,
    xAxis: [category(0), category(1)], yAxis: [valueAxis(0, theme, y([...waits, ...limits])), valueAxis(1, theme, y(before))],
    tooltip: tooltip(theme, "axis", (given: { dataIndex: number }[]) => {
      const round = rounds[given[0]?.dataIndex ?? 0];
      return tip(name(given[0]?.dataIndex ?? 0), round ? [{ name: "waited", value: ms(round.waited_ms), colour: theme.orange }, { name: "delivered before", value: count(round.before_mark), colour: theme.blue }, { name: "sent", value: count(round.sent) }, { name: "lost or marked", value: count(round.marks) }, { name: "longest row of these", value: count(round.longest_row) }, { name: "longest queue", value: ms(round.queue_max_ms) }] : []);
    }),
    series: [bars(0, "waited", waits, theme.orange, limits, theme), bars(1, "delivered before", before, theme.blue, [], theme)],
  };
  return { option: option as unknown as Option, height: heightOf(places) };
}

function finding(rounds: MbmRound[]): string {
  const waits = rounds.flatMap(({ waited_ms }) => waited_ms ?? []);
  if (!waits.length) return "Nothing was lost or marked in slow start";
  return `Behind the first loss of slow start packets had waited for ${ms(median(waits))} (median of ${waits.length} rounds)`;
}

export function rounds(run: RunView): Spec | null {
  const found: { test: MbmTest; shown: MbmRound[] }[] = having(run, ({ rounds: all }) => (all.length ? all : null));
  const one = found[0];
  if (!one) return null;
  const target = run.mbm!.asked.rtt_ms;
  return {
    id: "rounds", title: finding(one.shown),
    about: "Each round sends sets of four packets at twice the target's rate until something is lost or marked, then waits until the path is empty.",
    howTo: [
      "The wait of the first packet behind the first loss is how long the queue was when it said stop.",
      "Good is between half a round trip of the target, so that slow start does not end too early, and twice that round trip, so that the delay does not grow beyond measure.",
      "A short wait asks for a longer queue or a management that bears bursts, a long one for a shorter queue or for management.",
    ],
    draw: (theme, width) => draw(one.shown, target, theme, width),
    table: () => ({ head: ["round", "packets sent", "delivered before the first loss or mark", "lost or marked", "longest row of these", "longest queue, ms", "waited behind it, ms"], rows: one.shown.map((round, i) => [i + 1, count(round.sent), count(round.before_mark), count(round.marks), count(round.longest_row), digits(round.queue_max_ms), digits(round.waited_ms)]) }),
  };
}
