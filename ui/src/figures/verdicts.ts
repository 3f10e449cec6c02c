// Verdicts of tests: each has a word, a shape and a colour, the same in every figure, so that none of them is needed to
// tell it.
import { FONT, type Series } from "../chart";
import type { MbmTest, RunView } from "../data";
import { h } from "../dom";
import type { Theme } from "../palette";

interface Look { kind: string; sign: string; symbol: string; colour: (theme: Theme) => string; path: string; stroke: string }

const LOOKS: Record<string, Look> = {
  PASS: { kind: "pass", sign: "✓", symbol: "circle", colour: (theme) => theme.green, path: "M8 1a7 7 0 1 0 .001 0z", stroke: "M4.6 8.3l2.4 2.5 4.5-5.2" },
  FAIL: { kind: "fail", sign: "✕", symbol: "rect", colour: (theme) => theme.vermillion, path: "M1.5 1.5h13v13h-13z", stroke: "M5 5l6 6M11 5l-6 6" },
  INCONCLUSIVE: { kind: "open", sign: "?", symbol: "diamond", colour: (theme) => theme.orange, path: "M8 0l8 8-8 8-8-8z", stroke: "M6.2 6.4q0-1.8 1.8-1.8t1.8 1.6q0 1-1 1.5-.8.4-.8 1.5M8 11.2v.6" },
  ERROR: { kind: "error", sign: "!", symbol: "triangle", colour: (theme) => theme.purple, path: "M8 .8l7.6 14H.4z", stroke: "M8 5.6v4.2M8 12v.6" },
};
const NONE: Look = { kind: "none", sign: "–", symbol: "emptyCircle", colour: (theme) => theme.faint, path: "M8 1a7 7 0 1 0 .001 0z", stroke: "M5 8h6" };

export const look = (outcome: string | null): Look => LOOKS[outcome ?? ""] ?? NONE;
export const verdictWord = (outcome: string | null) => outcome ?? "no verdict";
export const signed = (test: MbmTest) => `${look(test.outcome).sign} ${verdictWord(test.outcome)}`;

/** The verdict as a shape with a sign in it, and its word. */
export function badge(outcome: string | null, more = ""): HTMLElement {
  const { kind, path, stroke } = look(outcome);
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  for (const [name, value] of [["viewBox", "0 0 16 16"], ["aria-hidden", "true"], ["focusable", "false"]] as const) svg.setAttribute(name, value);
  for (const [d, name] of [[path, "shape"], [stroke, "sign"]] as const) {
    const part = document.createElementNS(space, "path");
    part.setAttribute("d", d);
    part.setAttribute("class", name);
    svg.append(part);
  }
  return h("span", { class: `badge ${kind} ${more}`.trim() }, svg as unknown as HTMLElement, verdictWord(outcome));
}

/** Tests with what the wanted figure draws. */
export function having<T>(run: RunView, what: (test: MbmTest) => T | null): { test: MbmTest; shown: T }[] {
  return (run.mbm?.tests ?? []).flatMap((test) => {
    const shown = what(test);
    return shown === null ? [] : [{ test, shown }];
  });
}

/** When each test took place, every second one shaded, with its name where there is room. */
export function testShades(panel: number, run: RunView, theme: Theme, width: number, names: boolean): Series {
  const all = (run.mbm?.tests ?? []).filter(({ start_s, seconds }) => start_s !== null && seconds !== null);
  const data = all.map(({ test, start_s, seconds }, i) => {
    const fits = (seconds! / Math.max(run.end_s, 1)) * width > test.length * 6;
    return [{ xAxis: start_s!, itemStyle: { color: i % 2 ? theme.loaded : theme.idle, opacity: 1 }, label: { show: names && fits, formatter: test, position: "insideTop", color: theme.faint, fontSize: 10, fontFamily: FONT } }, { xAxis: start_s! + seconds! }];
  });
  return { type: "line", xAxisIndex: panel, yAxisIndex: panel, data: [], silent: true, tooltip: { show: false }, markArea: { silent: true, data } } as unknown as Series;
}

/** A test as one of several to choose from. */
export const choiceName = (test: MbmTest) => `${test.test}, ${verdictWord(test.outcome)}`;

/** What is between two points of a value and a word: `3 losses`. */
export const plural = (n: number, one: string, several: string) => `${n.toLocaleString("en")} ${n === 1 ? one : several}`;
