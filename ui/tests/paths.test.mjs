// Histories of a monitor, and paths of several parts, in a real browser.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { browser, hover, pages, tipOf } from "./browser.mjs";

const LIGHT = { vermillion: "#d55e00", green: "#009e73" };

let chrome;
before(async () => (chrome = await browser()));
after(async () => await chrome?.close());

test("a monitor's history is verdicts above losses on one time axis", async () => {
  const { page, problems } = await chrome.open("watch");
  assert.match(await page.locator("h1").innerText(), /^This path carried 10 Mbit\/s over 80 ms in \d+ of 299 runs: \d+ fail, .*12 have no verdict\.$/);
  assert.match(await page.locator(".warnings").innerText(), /last line of the history is cut short[\s\S]*1 line of the history could not be read/);
  assert.match(await page.locator(".failures").innerText(), /does not answer[\s\S]*12\s+2026-11-04 17:\d\d UTC/);
  const words = (await page.locator("#history svg").allTextContents()).join(" ");
  for (const what of ["✓ PASS", "✕ FAIL", "? INCONCLUSIVE", "! ERROR", "– no verdict", "background: lost or marked packets, %", "good up to 0.0068 %", "bad from 0.027 %", "time, UTC", "0.01", "0.001"]) assert.ok(words.includes(what), what);
  // Each verdict has a row of its own: it is told without its colour.
  const rows = await page.locator("#history svg path").evaluateAll((all, colours) => colours.map((colour) => all.filter((path) => path.getAttribute("fill") === colour).map((path) => path.getBoundingClientRect()).filter(({ height, width }) => height > 4 && width > 20).map(({ top }) => Math.round(top))), [LIGHT.vermillion, LIGHT.green]);
  assert.ok(rows[0].length && rows[1].length && Math.max(...rows[0]) < Math.min(...rows[1]), JSON.stringify(rows));
  await hover(page, "history", 0.5, 0.2);
  await tipOf(page, "history").waitFor({ timeout: 5_000 });
  assert.match(await tipOf(page, "history").innerText(), /2026-11-0\d \d\d:\d\d UTC\s+background\s+✓ PASS\s+lost or marked\s+\d+ of [\d,]+: [\d.]+ % \([\d.]+ to [\d.]+\)\s+record\s+00\d{3}/);
  await page.locator("#history details.data summary").click();
  await page.locator("#history details.data tbody tr").first().waitFor();
  assert.equal(await page.locator("#history details.data tbody tr").count(), 299);
  const links = await page.locator(".tiles a").evaluateAll((all) => all.map((a) => a.getAttribute("href")));
  assert.ok(links.length >= 5 && links.every((link) => link === "#history"));
  assert.ok((await page.locator("#history .how p").textContent()).split(/\.\s/).length <= 4);
  assert.deepEqual(problems, []);
});

test("ten thousand runs stand together until they are zoomed into, and make a small page", async (t) => {
  const bytes = statSync(join(pages, "watch-long.html")).size;
  assert.ok(bytes < 2_000_000, `${bytes} bytes`);
  const { page, problems } = await chrome.open("watch-long");
  const ready = await page.evaluate(() => performance.getEntriesByName("isobath-ready")[0].startTime);
  t.diagnostic(`ten thousand runs: ${(bytes / 1e6).toFixed(2)} MB, ready after ${ready.toFixed(0)} ms`);
  assert.match(await page.locator("h1").innerText(), /of 10,000 runs/);
  await hover(page, "history", 0.5, 0.3);
  await tipOf(page, "history").waitFor({ timeout: 5_000 });
  assert.match(await tipOf(page, "history").innerText(), /^64 runs, [\s\S]*in the worst run\s+[\d.]+ %\s+records from\s+\d{5}/);
  for (let i = 0; i < 6; i++) await page.locator("#history button", { hasText: "+" }).click();
  await hover(page, "history", 0.45, 0.3);
  await tipOf(page, "history").waitFor({ timeout: 5_000 });
  assert.match(await tipOf(page, "history").innerText(), /^20\d\d-\d\d-\d\d \d\d:\d\d UTC[\s\S]*record\s+\d{5}/, "a single run");
  assert.deepEqual(problems, []);
});

test("a history of several tests has a strip for each and one for all", async () => {
  const { page, problems } = await chrome.open("watch-two");
  const words = () => page.locator("#history svg").allTextContents().then((all) => all.join(" "));
  for (const what of ["all tests together: verdicts", "paced-full-rate: verdicts", "sustained-burst: verdicts", "paced-full-rate: lost or marked packets, %"]) assert.ok((await words()).includes(what), what);
  await page.locator("#history select").selectOption({ label: "sustained-burst" });
  assert.ok((await words()).includes("sustained-burst: lost or marked packets, %"));
  assert.match(await page.locator("main").innerText(), /Tests over all runs[\s\S]*sustained-burst/);
  assert.deepEqual(problems, []);
});

test("parts of a path are a chain with the whole below it", async () => {
  const { page, problems } = await chrome.open("mbm-parts");
  assert.match(await page.locator("#composed h3").innerText(), /^As parts of one path these 3 runs do not tell whether the whole carries 10 Mbit\/s over 80 ms$/);
  const words = async () => (await page.locator("#composed svg text").allTextContents()).join(" | ");
  for (const what of ["access | ✓ PASS · 10 Mbit/s over 80 ms · own round trip 31.0 ms", "far-access", "good: 0.0023 %", "The whole path: 3 parts | ? INCONCLUSIVE · 10 Mbit/s over 80 ms", "lost or marked packets, %"]) assert.ok((await words()).includes(what), `${what} in ${await words()}`);
  assert.match(await page.locator("#composed .composed").innerText(), /INCONCLUSIVE\s+paced-full-rate: 4 losses or marks on 21204 packets[\s\S]*What would change it: longer tests/);
  await hover(page, "composed", 0.7, 0.3);
  await tipOf(page, "composed").waitFor({ timeout: 5_000 });
  assert.match(await tipOf(page, "composed").innerText(), /access\s+verdict\s+PASS\s+lost or marked\s+1 of 42,000\s+share\s+0\.0024 % \([\d.]+ to [\d.]+\)\s+good up to\s+0\.0023 %\s+bad from\s+0\.0091 %/);
  await page.locator("#composed select").selectOption("1");
  assert.match(await page.locator("#composed h3").innerText(), /a whole that does not carry 10 Mbit\/s over 80 ms: it loses 3\.33 %$/);
  assert.match(await page.locator("#composed .composed").innerText(), /FAIL\s+sustained-burst: far-access failed by itself[\s\S]*Beware: far-access ended after 870 packets/);
  assert.ok((await page.locator("#composed .how p").textContent()).split(/\.\s/).length <= 4);
  await page.locator("#composed details.data summary").click();
  await page.locator("#composed details.data tbody tr").first().waitFor();
  assert.equal(await page.locator("#composed details.data tbody tr").count(), 8);
  assert.deepEqual(problems, []);
});

test("runs that are no parts of one path say why", async () => {
  const { page, problems } = await chrome.open("mbm-two");
  assert.equal(await page.locator("#composed").count(), 0);
  assert.match(await page.locator(".refused").innerText(), /^As parts of one path these runs cannot be put together: .* differ in the run length/);
  assert.deepEqual(problems, []);
});

test("histories and chains are reached by the keyboard, saved, printed, dark and narrow", async () => {
  for (const [name, id] of [["watch", "history"], ["mbm-parts", "composed"]]) {
    const { page, problems } = await chrome.open(name);
    await page.locator(`#${id} .canvas`).focus();
    const said = [];
    for (const key of ["ArrowRight", "ArrowRight", "PageDown", "ArrowLeft"]) {
      await page.keyboard.press(key);
      said.push(await page.locator(`#${id} .live`).textContent());
    }
    assert.ok(said[0].length > 5 && new Set(said).size > 1, `${id} reads out values: ${said}`);
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator(`#${id} button`, { hasText: "SVG" }).click()]);
    assert.equal(download.suggestedFilename(), `isobath-${id}.svg`);
    assert.match(readFileSync(await download.path(), "utf8"), /^<\?xml[\s\S]*lost or marked packets, %[\s\S]*<\/svg>\s*$/);
    const drawn = await page.locator(`#${id} svg`).first().innerHTML();
    await page.getByRole("button", { name: "Show in dark colours" }).click();
    assert.notEqual(await page.locator(`#${id} svg`).first().innerHTML(), drawn);
    assert.equal((await page.pdf({ format: "A4" })).subarray(0, 5).toString(), "%PDF-");
    await page.setViewportSize({ width: 400, height: 800 });
    await page.waitForTimeout(300);
    const [width, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(width <= window + 1, `${name}: ${width} px in ${window}`);
    assert.deepEqual(problems, []);
  }
});
