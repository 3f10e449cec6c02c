// The page of an experiment: the answer, the claims, the figures, the tables, where it all comes from.
import type { Experiment, ExperimentTable } from "./data";
import { h, table } from "./dom";
import { flatten, fold } from "./environment";
import { Figure } from "./figure";
import { generic } from "./figures/generic";
import { digits } from "./format";

const VERDICTS = new Map<boolean | null, [string, string]>([[true, ["holds", "✓ holds"]], [false, ["fails", "✗ does not hold"]], [null, ["untold", "– cannot be told"]]]);

function claims({ cases }: Experiment): HTMLElement | null {
  if (!cases.length) return null;
  const told = cases.filter(({ holds }) => holds !== null);
  const holding = told.filter(({ holds }) => holds).length;
  const rows = cases.map(({ name, found, expected, holds, record }) => {
    const [kind, words] = VERDICTS.get(holds)!;
    return h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, found ?? "not run"), h("td", {}, expected), h("td", { class: `claim ${kind}` }, words), h("td", {}, record ? h("code", {}, record) : null));
  });
  const head = ["case", "found", "expected", "verdict", cases.some(({ record }) => record) ? "record" : ""];
  return h("section", { class: "claims", "aria-label": "Claims" }, h("h2", {}, `${holding} of ${told.length} claims hold${told.length < cases.length ? `; ${cases.length - told.length} cannot be told` : ""}`),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Claims" }, h("table", {}, h("thead", {}, h("tr", {}, ...head.map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, ...rows))));
}

export function shown({ title, columns, rows }: ExperimentTable): HTMLElement {
  const name = (column: ExperimentTable["columns"][number]) => `${column.name}${column.unit ? `, ${column.unit}` : ""}${column.source === "paper" && !/paper/i.test(column.name) ? " (paper)" : ""}`;
  const cell = (value: number | string | boolean | null) => (typeof value === "number" ? (Number.isInteger(value) ? value.toLocaleString("en") : digits(value)) : typeof value === "boolean" ? (value ? "yes" : "no") : value);
  return h("section", { class: "below" }, h("h3", {}, title), table({ head: columns.map(name), rows: rows.map((row) => row.map(cell)) }));
}

/** A list of more figures than these is folded. */
const MANY = 12;

const paragraphs = (texts: string[], kind: string) => texts.map((text) => h("p", { class: kind }, text));

export function experimentParts(experiment: Experiment): HTMLElement[] {
  const { figures, tables, notes, papers, plan, summary, name, started } = experiment;
  const origin = h("p", { class: "origin" }, [`experiment ${name}`, started?.replace("T", " ").replace(/(\.\d+)?Z$/, " UTC")].filter(Boolean).join(" · "));
  const list = (title: string, entries: string[]) => (entries.length ? h("section", { class: "notes" }, h("h2", {}, title), h("ul", {}, ...entries.map((entry) => h("li", {}, entry)))) : null);
  const specs = figures.map(generic);
  const links = h("ul", {}, ...specs.map((spec) => h("li", {}, h("a", { href: `#${spec.id}` }, spec.title))));
  const shortly = specs.length > MANY ? fold(`${specs.length} figures`, false, links) : links;
  const contents = specs.length > 2 ? h("nav", { class: "contents", "aria-label": "Figures" }, shortly) : null;
  const rows = flatten(plan ?? {});
  const parts = [
    origin, ...paragraphs(summary.split(/\n{2,}/).filter(Boolean), "summary"), claims(experiment), contents, ...specs.map((spec) => new Figure(spec).element),
    tables.length ? h("section", { "aria-label": "Tables" }, h("h2", {}, "Tables"), ...tables.map(shown)) : null,
    list("What to know before believing it", notes), list("Sources", papers),
    plan && rows.length ? h("section", { class: "environment" }, fold("The plan", false, table({ head: ["option", "value"], rows }, "The plan"))) : null,
  ];
  return parts.filter((part) => part !== null);
}
