// The page of bulk transfers in a real browser, with made-up records.
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { browser, hover, LIGHT, marksOf, pages, tipOf } from "./browser.mjs";

let chrome;
before(async () => (chrome = await browser()));
after(async () => await chrome?.close());

test("a transfer is drawn segment by segment, and what was sent again stands out", async () => {
  const { page, problems } = await chrome.open("btc");
  assert.deepEqual(await page.locator("figure").evaluateAll((all) => all.map((figure) => figure.id)), ["sequence", "window", "rate", "rtt"]);
  assert.match(await page.locator("h1").innerText(), /^A bulk transfer gets [\d.]+ Mbit\/s over this path, and loses/);
  for (const link of await page.locator(".tiles a").evaluateAll((all) => all.map((a) => a.getAttribute("href")))) assert.equal(await page.locator(`figure${link}`).count(), 1, link);
  const again = Number((await page.locator("#sequence h3").innerText()).match(/(\d+) are sent again/)[1]);
  assert.ok(again > 5);
  // One diamond a packet sent again, those that fall onto each other once, and the one in the legend.
  const drawn = await marksOf(page, "sequence", LIGHT.vermillion);
  assert.ok(drawn > again / 2 && drawn <= again + 1, `${drawn} diamonds of ${again}`);
  assert.ok((await marksOf(page, "sequence", LIGHT.blue)) > 100, "strokes of segments");
  assert.match((await page.locator("#window svg").allTextContents()).join(" "), /cut by loss/);
  for (const [id, what] of [["sequence", /acknowledged below[\s\S]*segment [\d,]+[\s\S]*\d+ segments/], ["window", /congestion window[\s\S]*segments/], ["rate", /Mbit\/s[\s\S]*ms/], ["rtt", /ours[\s\S]*%/]]) {
    await hover(page, id, 0.4, 0.3);
    await tipOf(page, id).waitFor({ timeout: 5_000 });
    assert.match(await tipOf(page, id).innerText(), what, id);
  }
  assert.deepEqual(problems, []);
});

test("zooming into a transfer shows single segments, and the vertical axis follows", async () => {
  const { page, problems } = await chrome.open("btc-long");
  const numbers = async () => (await page.locator("#sequence svg text").allTextContents()).map((text) => Number(text.replace(",", ""))).filter((n) => n > 0);
  const highest = Math.max(...(await numbers()));
  assert.ok(highest >= 80_000, `${highest}`);
  const canvas = page.locator("#sequence .canvas");
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox();
  await page.mouse.move(box.x + box.width * 0.3, box.y + 150);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.31, box.y + 150, { steps: 3 });
  await page.mouse.move(box.x + box.width * 0.33, box.y + 150, { steps: 3 });
  await page.mouse.up();
  await page.waitForFunction(() => [...document.querySelectorAll("#sequence svg text")].every((text) => Number(text.textContent.replace(",", "")) < 40_000 || !/\d,\d/.test(text.textContent)));
  const shown = (await numbers()).filter((n) => n > 1_000);
  assert.ok(shown.length > 2 && Math.min(...shown) > 10_000, `${shown}`);
  assert.ok((await marksOf(page, "sequence", LIGHT.blue)) > 100, "strokes of segments");
  assert.deepEqual(problems, []);
});

test("ours and the kernel's transfers are compared, and any pair can be looked at", async () => {
  const { page, problems } = await chrome.open("btc-compare");
  assert.match(await page.locator("h1").innerText(), /than the kernel's TCP \(medians of 16 pairs\)|as much as/);
  const words = (await page.locator("#transfers svg").allTextContents()).join(" ");
  for (const panel of ["Throughput of each transfer, Mbit/s", "Share of pairs with a difference up to", "Packets lost in each transfer, %", "least, 25 %, median, 75 %, most"]) assert.ok(words.includes(panel), panel);
  await page.locator("#transfers details.data summary").click();
  await page.locator("#transfers tbody tr").first().waitFor();
  assert.equal(await page.locator("#transfers tbody tr").count(), 32);
  const box = page.locator("#transfers .canvas");
  await box.focus();
  await page.keyboard.press("ArrowRight");
  assert.match(await page.locator("#transfers .live").textContent(), /transfer \d+[\s\S]*Mbit\/s/);
  const before = await page.locator("#window svg").first().innerHTML();
  assert.match(before, /the kernel/);
  await page.locator("#window select").selectOption("2");
  assert.notEqual(await page.locator("#window svg").first().innerHTML(), before);
  const title = await page.locator("#sequence h3").innerText();
  await page.locator("#sequence select").selectOption("3");
  assert.notEqual(await page.locator("#sequence h3").innerText(), title);
  assert.deepEqual(problems, []);
});

test("runs of bulk transfers stand beside each other by their throughput", async () => {
  const { page, problems } = await chrome.open("btc-two");
  assert.match(await page.locator("h1").innerText(), /^Of 2 runs, a bulk transfer gets the most/);
  assert.match(await page.locator(".comparison table").first().innerText(), /throughput of a bulk transfer/);
  assert.equal(await page.locator("#sequence").count(), 1);
  assert.deepEqual(problems, []);
});

test("ninety thousand segments make a page below 2 MB", async (t) => {
  const bytes = statSync(join(pages, "btc-long.html")).size;
  assert.ok(bytes < 2_000_000, `${bytes} bytes`);
  const { page, problems } = await chrome.open("btc-long");
  const ready = await page.evaluate(() => performance.getEntriesByName("isobath-ready")[0].startTime);
  t.diagnostic(`ninety thousand segments: ${(bytes / 1e6).toFixed(2)} MB, ready after ${ready.toFixed(0)} ms`);
  assert.deepEqual(problems, []);
});
