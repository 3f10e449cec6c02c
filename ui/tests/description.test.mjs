// The page of sets that are told by their distributions, in a real browser.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browser, hover, tipOf } from "./browser.mjs";

const FAMILIES = ["request-bytes", "inter-epoch-ms", "min-rtt-ms", "initiator-loss", "epochs"];

let chrome;
before(async () => (chrome = await browser()));
after(async () => await chrome?.close());

const words = async (page, id) => (await page.locator(`#${id} svg`).allTextContents()).join(" ");

// Holds tmix/curves.
test("a set has a figure for each quantity, with its unit, its quantiles and a table", async () => {
  const { page, problems } = await chrome.open("description");
  assert.deepEqual(await page.locator("figure").evaluateAll((all) => all.map((figure) => figure.id)), [...FAMILIES, "starts"]);
  for (const [id, unit] of [["request-bytes", "kB"], ["inter-epoch-ms", " s"], ["min-rtt-ms", " ms"], ["initiator-loss", " %"], ["starts", "starts/s"]]) {
    assert.ok((await words(page, id)).includes(unit), `${id} says ${unit}`);
  }
  // In which order they are drawn means nothing.
  for (const drawn of [/share of values up to/, /share above/, /median: [\d.]+ B/, /99 %: [\d.]+ kB/]) assert.match(await words(page, "request-bytes"), drawn);
  await page.locator("#min-rtt-ms .data summary").click();
  assert.match(await page.locator("#min-rtt-ms .data table").innerText(), /monday\.parquet\s+2,000\s+[\d.]+ ms/);
  assert.match(await page.locator("h1").innerText(), /^2,000 connections/);
  assert.equal(await page.locator(".tiles li").count(), 2);
  assert.deepEqual(problems, []);
});

test("a wide quantity has a logarithmic axis, a narrow one a linear", async () => {
  const { page } = await chrome.open("description");
  const ticks = async (id) => page.locator(`#${id} svg text`).allTextContents();
  assert.ok((await ticks("request-bytes")).includes("10 B"));
  const narrow = (await ticks("min-rtt-ms")).filter((text) => / ms$/.test(text)).map(parseFloat);
  assert.ok(narrow.includes(0) && narrow.includes(20) && narrow.includes(40), narrow.join(" "));
});

test("several sets are told apart by name, and hovering tells the share of each", async () => {
  const { page, problems } = await chrome.open("descriptions");
  for (const [x, what] of [[0.25, /up to[\s\S]*monday\.parquet[\s\S]*%[\s\S]*a-b\.parquet[\s\S]*%/], [0.75, /above[\s\S]*tuesday\.parquet[\s\S]*%/]]) {
    await hover(page, "request-bytes", x, 0.4);
    await tipOf(page, "request-bytes").waitFor({ timeout: 5_000 });
    assert.match(await tipOf(page, "request-bytes").innerText(), what);
  }
  // The third set has no round trips, and the others keep the colours that they have elsewhere.
  const colours = async (id) => {
    const strokes = await page.locator(`#${id} svg path[fill="none"]`).evaluateAll((all) => all.map((path) => path.getAttribute("stroke")));
    return ["#0072b2", "#d55e00", "#009e73"].map((colour) => strokes.includes(colour));
  };
  assert.deepEqual(await colours("request-bytes"), [true, true, true]);
  assert.deepEqual(await colours("min-rtt-ms"), [true, true, false]);
  assert.ok(!(await words(page, "min-rtt-ms")).includes("a-b.parquet"));
  assert.deepEqual(problems, []);
});

test("a set of one value is drawn too", async () => {
  const { page, problems } = await chrome.open("description-small");
  assert.equal(await page.locator("figure").count(), 2);
  assert.match(await words(page, "request-bytes"), /median/);
  assert.deepEqual(problems, []);
});

test("on a narrow screen the panels stand below each other", async () => {
  const narrow = await browser({ viewport: { width: 380, height: 800 } });
  const { page, problems } = await narrow.open("descriptions");
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  const box = await page.locator("#request-bytes svg").first().boundingBox();
  await narrow.close();
  assert.equal(overflow, false);
  assert.ok(box.height > 500, `${box.height}`);
  assert.deepEqual(problems, []);
});
