// The page of sets that are told by their distributions: the answer, key figures, families, what else is drawn, tables.
import type { Description } from "./data";
import { h, table } from "./dom";
import { flatten, fold } from "./environment";
import { shown } from "./experiment";
import { Figure, type Spec } from "./figure";
import { family } from "./figures/family";
import { generic } from "./figures/generic";

const tile = ([name, value, aside]: [string, string, string]) => h("li", {}, h("span", { class: "name" }, name), h("span", { class: "value" }, value), h("span", { class: "aside" }, aside));

function contents(description: Description, specs: Spec[]): HTMLElement | null {
  if (specs.length < 3) return null;
  const short = (spec: Spec) => description.families.find(({ id }) => id === spec.id)?.label ?? spec.title;
  return h("nav", { class: "contents", "aria-label": "Figures" }, h("ul", {}, ...specs.map((spec) => h("li", {}, h("a", { href: `#${spec.id}` }, short(spec))))));
}

export function descriptionParts(description: Description): HTMLElement[] {
  const { name, made_by, summary, tiles, families, figures, tables, notes, plan } = description;
  const names = [...new Set(families.flatMap(({ curves }) => curves.map((curve) => curve.name)))];
  const specs = [...families.map((one) => family(one, names)), ...figures.map(generic)];
  const rows = flatten(plan ?? {});
  const parts = [
    h("p", { class: "origin" }, [made_by, name].filter(Boolean).join(" · ")), ...summary.map((text) => h("p", { class: "summary" }, text)),
    tiles.length ? h("ul", { class: "tiles", "aria-label": "Key figures" }, ...tiles.map(tile)) : null,
    contents(description, specs), ...specs.map((spec) => new Figure(spec).element),
    tables.length ? h("section", { "aria-label": "Tables" }, h("h2", {}, "Tables"), ...tables.map(shown)) : null,
    notes.length ? h("section", { class: "notes" }, h("h2", {}, "What to know before believing it"), h("ul", {}, ...notes.map((note) => h("li", {}, note)))) : null,
    rows.length ? h("section", { class: "environment" }, fold("The plan", false, table({ head: ["option", "value"], rows }, "The plan"))) : null,
  ];
  return parts.filter((part) => part !== null);
}
