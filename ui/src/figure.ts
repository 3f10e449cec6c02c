// A figure: a title that states what was found, the drawing, how to read it, the table behind it.
//
// Figures are drawn when they come near the window, the rest when the browser has nothing to do, and all before
// printing. So a long page opens at once.
import { echarts, type Option } from "./chart";
import { h, table, type Table } from "./dom";
import { saveSvg } from "./save";
import { LIGHT, type Theme } from "./palette";

export interface Spec {
  id: string;
  /** The finding, as a sentence. */
  title: string;
  /** What is drawn, with bins and units. */
  about: string;
  /** At most four sentences: what is drawn, what good looks like, what this one shows, what to do. */
  howTo: string[];
  /** The drawing at a width in pixels; its height is its own affair. `stretch` tells what is shown of the time axis, in per cent. */
  draw?: (theme: Theme, width: number, stretch: () => [number, number]) => { option: Option; height: number };
  /** What the vertical axis of the first panel is to show, of that stretch. */
  follow?: (from: number, to: number) => { min: number; max: number };
  /** Instead of, or below, the drawing. */
  html?: () => HTMLElement;
  /** The numbers behind it. */
  table?: () => Table;
  /** Whether the horizontal axis is time, and can be zoomed. */
  zoom?: boolean;
  /** Choices that change the drawing, and the title where `choose` says one. */
  choice?: { label: string; options: string[]; choose: (index: number) => string | void };
}

const PRINT_WIDTH = 690;
const all: Figure[] = [];
let theme: Theme = LIGHT;

export class Figure {
  readonly element: HTMLElement;
  private readonly canvas = h("div", { class: "canvas", tabindex: "0", role: "group" });
  private readonly live = h("p", { class: "live", "aria-live": "polite" });
  private chart: ReturnType<typeof echarts.init> | null = null;
  private stop = -1;
  private panel = 0;

  constructor(readonly spec: Spec) {
    const { id, title, about, howTo } = spec;
    this.element = h("figure", { id, class: "figure", "aria-labelledby": `${id}-title` });
    const head = h("figcaption", {}, h("h3", { id: `${id}-title` }, title), spec.draw ? this.tools() : null, h("p", { class: "about" }, about));
    this.element.append(head);
    if (spec.choice) this.element.append(this.chooser(spec.choice));
    if (spec.draw) {
      this.canvas.setAttribute("aria-label", `${title}. Arrow keys move the values that are read out; the table below has all of them.`);
      this.element.append(this.canvas, this.live);
      this.canvas.addEventListener("keydown", (event) => this.key(event));
      this.canvas.addEventListener("blur", () => this.hide());
      if (spec.zoom) this.canvas.addEventListener("dblclick", () => this.zoom(0, 100));
    }
    if (spec.html) this.element.append(spec.html());
    if (howTo.length) this.element.append(h("details", { class: "how" }, h("summary", {}, "How to read this"), h("p", {}, howTo.join(" "))));
    if (spec.table) this.element.append(lazyTable(spec.table, title));
    all.push(this);
  }

  get drawn(): boolean {
    return this.chart !== null || !this.spec.draw;
  }

  private tools(): HTMLElement {
    const bar = h("div", { class: "tools" });
    const button = (text: string, label: string, act: () => void) => {
      const made = h("button", { type: "button", "aria-label": `${label}: ${this.spec.title}`, title: label }, text);
      made.addEventListener("click", act);
      bar.append(made);
    };
    if (this.spec.zoom) {
      button("+", "Zoom in", () => this.zoomBy(0.5));
      button("−", "Zoom out", () => this.zoomBy(2));
      button("Reset", "Reset zoom", () => this.zoom(0, 100));
    }
    button("SVG", "Save as SVG", () => this.save());
    return bar;
  }

  private chooser({ label, options, choose }: NonNullable<Spec["choice"]>): HTMLElement {
    const select = h("select", {}, ...options.map((text, i) => h("option", { value: String(i) }, text)));
    select.addEventListener("change", () => {
      const title = choose(Number(select.value));
      const heading = this.element.querySelector("h3");
      if (title && heading) heading.textContent = this.spec.title = title;
      this.redraw();
    });
    return h("label", { class: "choice" }, `${label} `, select);
  }

  draw(width = this.canvas.clientWidth): void {
    if (!this.spec.draw || width < 50) return;
    const { option, height } = this.spec.draw(theme, width, () => this.range());
    this.canvas.style.height = `${height}px`;
    if (this.chart) this.chart.resize({ width, height });
    else {
      this.chart = echarts.init(this.canvas, null, { renderer: "svg", width, height });
      this.chart.on("datazoom", () => {
        this.hide();
        const shown = this.spec.follow?.(...this.range());
        if (shown) this.chart?.setOption({ yAxis: [{ ...shown, axisLabel: { showMinLabel: shown.min === 0 } }] });
      });
    }
    this.chart.setOption({ ...this.common(), ...option }, { notMerge: true });
    this.canvas.dataset["drawn"] = "yes";
    // A drag over the drawing chooses the time to zoom to.
    if (this.spec.zoom) this.chart.dispatchAction({ type: "takeGlobalCursor", key: "dataZoomSelect", dataZoomSelectActive: true });
  }

  redraw(width?: number): void {
    if (this.chart) this.draw(width);
  }

  private common(): Option {
    const zoomed = this.spec.zoom
      ? {
          dataZoom: [{ type: "inside" as const, xAxisIndex: "all" as const, filterMode: "none" as const, zoomOnMouseWheel: "ctrl" as const, moveOnMouseMove: false, moveOnMouseWheel: false }],
          toolbox: { top: -100, itemSize: 1, feature: { dataZoom: { yAxisIndex: "none" as const, filterMode: "none" as const, brushStyle: { color: theme.sky, opacity: 0.2 } } } },
        }
      : {};
    return { animation: false, backgroundColor: theme.paper, textStyle: { color: theme.ink }, aria: { enabled: false }, ...zoomed } as Option;
  }

  private zoomBy(factor: number): void {
    const now = this.range();
    const middle = (now[0] + now[1]) / 2;
    const half = Math.min(50, Math.max(0.5, ((now[1] - now[0]) / 2) * factor));
    const start = Math.min(Math.max(0, middle - half), 100 - 2 * half);
    this.zoom(start, start + 2 * half);
  }

  /** What is shown of the time axis, in per cent. */
  range(): [number, number] {
    const zooms = (this.chart?.getOption() as { dataZoom?: { start?: number; end?: number }[] } | undefined)?.dataZoom;
    const inside = zooms?.[0];
    return [inside?.start ?? 0, inside?.end ?? 100];
  }

  private zoom(start: number, end: number): void {
    const zooms = (this.chart?.getOption() as { dataZoom?: unknown[] } | undefined)?.dataZoom ?? [];
    // The tool for dragging has zooms of its own, which must go along.
    this.chart?.dispatchAction({ type: "dataZoom", batch: zooms.map((_, dataZoomIndex) => ({ dataZoomIndex, start, end })) });
    this.live.textContent = end - start > 99 ? "All of the time is shown." : `Shown: ${start.toFixed(0)} to ${end.toFixed(0)} per cent of the time.`;
  }

  private key(event: KeyboardEvent): void {
    const steps: Record<string, [number, number]> = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1], PageDown: [10, 0], PageUp: [-10, 0] };
    const step = steps[event.key];
    if (step) this.move(...step);
    else if (event.key === "Escape") this.hide();
    else if (event.key === "+" && this.spec.zoom) this.zoomBy(0.5);
    else if (event.key === "-" && this.spec.zoom) this.zoomBy(2);
    else if (event.key === "0" && this.spec.zoom) this.zoom(0, 100);
    else return;
    event.preventDefault();
  }

  /** Moves the point whose values are shown, along the axis or to the next panel or series. */
  private move(along: number, across: number): void {
    if (!this.chart) return;
    const option = this.chart.getOption() as { grid: object[]; xAxis: { type: string; data?: unknown[] }[]; yAxis: { type: string; data?: unknown[] }[]; tooltip: { trigger?: string }[]; series: { data?: unknown[]; silent?: boolean }[] };
    if (option.tooltip[0]?.trigger === "item") this.moveItem(option.series, along, across);
    else this.moveAxis(option, along, across);
    const shown = this.canvas.querySelector<HTMLElement>(".tip");
    if (shown) this.live.textContent = shown.innerText;
  }

  private moveAxis(option: { grid: object[]; xAxis: { type: string; data?: unknown[] }[]; yAxis: { type: string; data?: unknown[] }[] }, along: number, across: number): void {
    this.panel = (this.panel + across + option.grid.length) % option.grid.length;
    const rect = this.rectangle(this.panel);
    if (!rect || !this.chart) return;
    const sideways = option.xAxis[this.panel]?.type !== "category" && option.yAxis[this.panel]?.type === "category";
    const categories = (sideways ? option.yAxis : option.xAxis)[this.panel]?.data?.length;
    const stops = categories ?? 100;
    this.stop = this.stop < 0 ? (categories ? 0 : 50) : Math.min(stops - 1, Math.max(0, this.stop + along));
    const share = (this.stop + 0.5) / stops;
    const x = sideways ? rect.x + rect.width / 2 : rect.x + share * rect.width;
    const y = sideways ? rect.y + share * rect.height : rect.y + rect.height / 2;
    this.chart.dispatchAction({ type: "showTip", x, y });
  }

  private moveItem(series: { data?: unknown[]; silent?: boolean }[], along: number, across: number): void {
    const filled = series.flatMap((one, index) => (one.data?.length && !one.silent ? [{ index, n: one.data.length }] : []));
    if (!filled.length) return;
    this.panel = (this.panel + across + filled.length) % filled.length;
    const chosen = filled[this.panel];
    if (!chosen) return;
    this.stop = this.stop < 0 ? 0 : Math.min(chosen.n - 1, Math.max(0, this.stop + along));
    this.chart?.dispatchAction({ type: "showTip", seriesIndex: chosen.index, dataIndex: Math.min(this.stop, chosen.n - 1) });
  }

  private rectangle(gridIndex: number): { x: number; y: number; width: number; height: number } | null {
    // ECharts tells the place of a panel only by its model.
    const model = (this.chart as unknown as { getModel(): { getComponent(name: string, i: number): { coordinateSystem?: { getRect(): { x: number; y: number; width: number; height: number } } } | undefined } }).getModel();
    return model.getComponent("grid", gridIndex)?.coordinateSystem?.getRect() ?? null;
  }

  private hide(): void {
    this.chart?.dispatchAction({ type: "hideTip" });
  }

  private save(): void {
    if (!this.chart) this.draw();
    if (this.chart) saveSvg(this.chart.renderToSVGString({ useViewBox: true }), this.spec, theme);
  }
}

function lazyTable(make: () => Table, caption: string): HTMLElement {
  const details = h("details", { class: "data" }, h("summary", {}, "Table of the data"));
  const fill = () => {
    if (details.childElementCount === 1) details.append(table(make(), caption));
  };
  details.addEventListener("toggle", fill, { once: true });
  return details;
}

export function setTheme(next: Theme): void {
  theme = next;
  for (const figure of all) figure.redraw();
}

/** Forgets the figures that are no longer on the page. */
export function forget(within: HTMLElement): void {
  for (let i = all.length - 1; i >= 0; i--) if (all[i] && within.contains(all[i]!.element)) all.splice(i, 1);
}

/** Draws what is near the window now, and the rest when there is time. */
export function drawLazily(): void {
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const figure = all.find(({ element }) => element === entry.target);
      if (entry.isIntersecting && figure && !figure.drawn) figure.draw();
    }
  }, { rootMargin: "400px" });
  for (const figure of all) {
    const top = figure.element.getBoundingClientRect().top;
    if (top < innerHeight + 100 && figure.element.offsetParent) figure.draw();
    else near.observe(figure.element);
  }
  const rest = () => {
    const next = all.find((figure) => !figure.drawn && figure.element.offsetParent);
    next?.draw();
    if (next) later(rest);
    else document.documentElement.dataset["drawn"] = "all";
  };
  later(rest);
}

function later(act: () => void): void {
  if ("requestIdleCallback" in window) requestIdleCallback(act, { timeout: 2_000 });
  else setTimeout(act, 30);
}

/** On paper nothing can be unfolded. */
function explain(open: boolean): void {
  for (const details of document.querySelectorAll<HTMLDetailsElement>("details.how")) details.open = open;
}

let before: Theme | null = null;

/** Paper is white and narrow. */
export function preparePrinting(): void {
  addEventListener("beforeprint", () => {
    before = theme;
    theme = LIGHT;
    for (const figure of all) figure.draw(PRINT_WIDTH);
    explain(true);
  });
  addEventListener("afterprint", () => {
    theme = before ?? theme;
    for (const figure of all) figure.redraw();
    explain(false);
  });
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    for (const figure of all) figure.redraw();
  });
}
