// Elements in one line. Texts become text nodes, never markup: names in a record are foreign.
type Child = Node | string | null | undefined | false;

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Record<string, string> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  for (const child of children) if (child) element.append(child);
  return element;
}

export interface Table { head: string[]; rows: (string | number | null)[][] }

/** A table that scrolls by itself on a narrow screen. */
export function table({ head, rows }: Table, caption?: string): HTMLElement {
  const cell = (value: string | number | null, i: number) =>
    h(i === 0 ? "th" : "td", i === 0 ? { scope: "row" } : {}, value === null ? "–" : String(value));
  const body = h("tbody");
  for (const row of rows) body.append(h("tr", {}, ...row.map(cell)));
  const inner = h("table", {},
    caption ? h("caption", {}, caption) : null,
    h("thead", {}, h("tr", {}, ...head.map((name) => h("th", { scope: "col" }, name)))), body);
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption ?? "table" }, inner);
}

export function escape(text: string): string {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}
