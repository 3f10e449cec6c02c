// What the figures of bulk transfers share: which transfers there are, how they pair, what they are called.
import type { Course, RunView, Transfer } from "../data";
import type { Theme } from "../palette";

export interface Shown { transfer: Transfer; course: Course }
export interface Pair { repeat: number; direction: string; ours: Transfer; kernel: Transfer; difference_pct: number; loss_points: number | null }

const TOOLS: Record<string, string> = { ours: "ours", kernel: "the kernel's TCP", icmp: "ours by ICMP" };
export const toolWords = (tool: string) => TOOLS[tool] ?? tool;

/** A tool keeps its colour in every figure. */
export function toolColour(tool: string, theme: Theme): string {
  return tool === "kernel" ? theme.orange : tool === "icmp" ? theme.green : theme.blue;
}

export const name = ({ transfer, tool, direction }: Transfer) => `${transfer}: ${toolWords(tool)}, ${direction}`;

/** The transfers whose course is in the page. */
export function shown(run: RunView): Shown[] {
  const { transfers = [], courses = [] } = run.btc ?? {};
  return courses.flatMap((course) => {
    const transfer = transfers.find((one) => one.transfer === course.transfer);
    return transfer ? [{ transfer, course }] : [];
  });
}

/** Transfers of the same repetition and direction: those are looked at together. */
export function together(run: RunView): Shown[][] {
  const groups = new Map<string, Shown[]>();
  for (const one of shown(run)) {
    const key = `${one.transfer.repeat} ${one.transfer.direction}`;
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()];
}

export const groupName = (group: Shown[]) => group.map(({ transfer }) => name(transfer)).join(" and ");

/** Ours and the kernel's of the same repetition and direction, where both have a figure. */
export function pairs(run: RunView): Pair[] {
  const all = run.btc?.transfers ?? [];
  return all.filter(({ tool }) => tool === "ours" || tool === "icmp").flatMap((ours) => {
    const kernel = all.find((one) => one.tool === "kernel" && one.repeat === ours.repeat && one.direction === ours.direction);
    if (!kernel?.throughput_mbps || ours.throughput_mbps === null) return [];
    const loss = ours.loss_pct === null || kernel.loss_pct === null ? null : ours.loss_pct - kernel.loss_pct;
    return [{ repeat: ours.repeat, direction: ours.direction, ours, kernel, difference_pct: (ours.throughput_mbps / kernel.throughput_mbps - 1) * 100, loss_points: loss }];
  });
}

export function quantile(sorted: number[], q: number): number {
  const at = (sorted.length - 1) * q;
  const [low, high] = [sorted[Math.floor(at)] ?? NaN, sorted[Math.ceil(at)] ?? NaN];
  return low + (high - low) * (at - Math.floor(at));
}

export const ascending = (values: number[]) => [...values].sort((a, b) => a - b);
export const median = (values: number[]) => quantile(ascending(values), 0.5);

/** Running sums: what the page's value has as differences. */
export function summed(differences: number[], scale = 1): Float64Array {
  const sums = new Float64Array(differences.length);
  let sum = 0;
  differences.forEach((difference, i) => {
    sum += difference;
    sums[i] = sum * scale;
  });
  return sums;
}
