// What stands after the figures: all numbers of the summary, the plan, the machines, the instrument.
import type { Json, RunView } from "./data";
import { h, table } from "./dom";
import { count, digits, words } from "./format";

type Rows = [string, string][];

/** Free-form JSON as rows of a path in words and a value. */
export function flatten(json: Json, path: string[] = [], rows: Rows = []): Rows {
  if (json === null || json === undefined) rows.push([path.join(" › "), "not measured"]);
  else if (isDistribution(json)) rows.push([path.join(" › "), `median ${digits(json.p50)}, 95 % ${digits(json.p95)}, 99 % ${digits(json.p99)}, ${digits(json.min)} to ${digits(json.max)} (n = ${count(json.n)})`]);
  else if (Array.isArray(json)) {
    if (json.every((entry) => entry === null || typeof entry !== "object")) rows.push([path.join(" › "), json.map(String).join(", ") || "none"]);
    else json.forEach((entry, i) => flatten(entry, [...path, String(i + 1)], rows));
  } else if (typeof json === "object") for (const [key, value] of Object.entries(json)) flatten(value, [...path, words(key)], rows);
  else rows.push([path.join(" › "), typeof json === "number" ? number(json) : String(json)]);
  return rows;
}

const number = (value: number) => (Number.isInteger(value) ? count(value) : digits(value));
const isDistribution = (json: Json) => typeof json === "object" && json !== null && "p50" in json && "p99" in json && "n" in json;

export function fold(title: string, open: boolean, ...content: (Node | null)[]): HTMLElement {
  return h("details", { class: "fold", ...(open ? { open: "" } : {}) }, h("summary", {}, title), ...content);
}

function listing(name: string, json: Json): HTMLElement {
  const rows = flatten(json);
  return rows.length ? table({ head: [name, "value"], rows }, name) : h("p", {}, "Nothing.");
}

export function environment(run: RunView, hasFigures: boolean): HTMLElement {
  const { summary, plan, path, hosts, instrument, id, started } = run.run;
  const tables = Object.entries(run.tables).map(([name, rows]) => [name, count(rows)]);
  return h("section", { class: "environment", "aria-label": "Numbers, plan and environment" }, h("h2", {}, "Numbers, plan and environment"),
    fold("All figures of the summary", !hasFigures, listing("figure", summary)),
    fold("The instrument", false, listing("figure", instrument)),
    fold("The plan", false, listing("option", plan)),
    fold("The path", false, listing("path", path)),
    fold("The machines", false, ...(hosts ?? []).map((host: Json) => listing(String(host?.role ?? "host"), host))),
    fold("The record", false, table({ head: ["table", "rows"], rows: tables }, "Tables"), h("p", {}, `${run.folder} · ${id} · started ${started}`)));
}
