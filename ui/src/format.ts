// Numbers for people: three significant digits and a unit.
import type { Num } from "./data";

export const NOTHING = "–";

export function digits(value: Num | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOTHING;
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 99.95) return Math.round(value).toLocaleString("en", { maximumFractionDigits: 0 });
  if (size >= 9.995) return value.toFixed(1);
  if (size >= 0.0995) return value.toFixed(2);
  return value.toPrecision(2);
}

export const ms = (value: Num | undefined) => unit(value, "ms");
export const mbps = (value: Num | undefined) => unit(value, "Mbit/s");
export const pct = (value: Num | undefined) => (value === null || value === undefined ? NOTHING : `${digits(value)} %`);

export function unit(value: Num | undefined, name: string): string {
  return value === null || value === undefined ? NOTHING : `${digits(value)} ${name}`;
}

export function count(value: Num | undefined): string {
  return value === null || value === undefined ? NOTHING : value.toLocaleString("en");
}

export function bytes(value: Num | undefined): string {
  if (value === null || value === undefined) return NOTHING;
  for (const [size, name] of [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]] as const) {
    if (value >= size) return `${digits(value / size)} ${name}`;
  }
  return `${value} B`;
}

/** `loss_pct` as "loss, %"; `by_class` as "by class". */
export function words(key: string): string {
  const units: Record<string, string> = { ms: "ms", us: "µs", ns: "ns", s: "s", pct: "%", mbps: "Mbit/s", gbps: "Gbit/s", bps: "bit/s", bytes: "bytes" };
  const parts = key.split("_");
  const last = parts[parts.length - 1] ?? "";
  const found = units[last];
  if (found && parts.length > 1) return `${parts.slice(0, -1).join(" ")}, ${found}`;
  return parts.join(" ");
}

export function list(items: string[]): string {
  if (items.length < 2) return items.join("");
  return `${items.slice(0, -1).join(", ")} and ${items[items.length - 1]}`;
}

export function times(ratio: number): string {
  return `${ratio >= 10 ? ratio.toFixed(0) : ratio.toFixed(1)} times`;
}
