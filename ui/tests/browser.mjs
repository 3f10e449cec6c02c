// A Chromium of the system without a network: what the tests of the page share.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach } from "node:test";
import { chromium } from "playwright-core";

const executablePath = [process.env.ISOBATH_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => path && existsSync(path));

/** Folder with the pages that `cargo run -p isobath-report --example fixtures` writes. */
export const pages = resolve(process.env.ISOBATH_UI_PAGES ?? "fixtures");

/** The pages of the test under way. */
const opened = [];
afterEach(async () => await Promise.all(opened.splice(0).map((page) => page.close())));

/** Opens pages, each until its test is over, until `close`. `problems` collects what a page must not do: errors, and requests to anywhere. */
export async function browser(options = {}) {
  assert.ok(executablePath, "no Chromium found: install chromium, or name it in ISOBATH_CHROMIUM");
  const profile = mkdtempSync(join(tmpdir(), "isobath-ui-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath, headless: true, acceptDownloads: true, viewport: { width: 1280, height: 900 }, reducedMotion: "reduce", ...options,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
  const open = async (name, { all = true } = {}) => {
    const page = await context.newPage();
    opened.push(page);
    const problems = [];
    const file = `file://${join(pages, `${name}.html`)}`;
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && problems.push(`console: ${message.text()}`));
    page.on("pageerror", (error) => problems.push(`error: ${error.stack}`));
    page.on("request", (request) => request.url() !== file && !/^(data|blob):/.test(request.url()) && problems.push(`request: ${request.url()}`));
    await page.goto(file);
    await page.waitForFunction(() => performance.getEntriesByName("isobath-ready").length > 0);
    if (all) await page.waitForFunction(() => document.documentElement.dataset.drawn === "all");
    return { page, problems };
  };
  const close = async () => {
    await context.close();
    rmSync(profile, { recursive: true, force: true });
  };
  return { open, close };
}

/** What hovering over a figure shows. */
export const tipOf = (page, id) => page.locator(`#${id} .tip`);

/** Points at a place of a figure, in shares of its width and height. */
export async function hover(page, id, x = 0.6, y = 0.3) {
  const canvas = page.locator(`#${id} .canvas`);
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + box.width * x, box.y + box.height * y - 2);
  await page.mouse.move(box.x + box.width * x, box.y + box.height * y);
}

/** How many separate marks of a colour a figure draws. */
export const marksOf = (page, id, colour) => page.locator(`#${id} svg path[fill="${colour}"], #${id} svg path[stroke="${colour}"]`).evaluateAll((all) => all.reduce((n, path) => n + (path.getAttribute("d").match(/M/g)?.length ?? 0), 0));

/** Colours of the light theme. */
export const LIGHT = { vermillion: "#d55e00", ink: "#1f2328", blue: "#0072b2", green: "#009e73" };
