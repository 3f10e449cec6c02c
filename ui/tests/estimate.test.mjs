// The pages of properties of a path in a real browser, with made-up records.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { browser, hover, tipOf } from "./browser.mjs";

/** The figures of each page, and words that their drawings must hold: the units of their axes. */
const PAGES = {
  "estimate-streams": { answer: ["available bandwidth, Mbit/s"], trains: ["Mbit/s with IP headers", ", s"], probes: ["delay above the least of the run, ms", "place of the probe", "more than four times as long"], gaps: ["µs", ", s"] },
  "estimate-chirps": { answer: ["Mbit/s"], trains: ["Mbit/s"], probes: ["ms"], history: ["available, Mbit/s", "number of the estimate"], gaps: ["µs"] },
  "estimate-rtt": { answer: ["round trip, ms"], trains: ["Mbit/s"], delays: ["Round trip, ms", ", s"], spread: ["round trip, ms", "%"], gaps: ["µs"] },
  "estimate-pairs": { answer: ["capacity, Mbit/s"], trains: ["Mbit/s", "as fast as it left"], modes: ["share of all pairs, %", "rate of pairs, Mbit/s"], gaps: ["µs"] },
  "estimate-hops": { trains: ["Mbit/s"], hops: ["round trip, ms", "hop"], gaps: ["µs"] },
};

let chrome;
before(async () => (chrome = await browser()));
after(async () => await chrome?.close());

const title = (page, id) => page.locator(`#${id} h3`).innerText();

test("each estimator has its figures, with units, explained, and a table behind each", async () => {
  for (const [name, figures] of Object.entries(PAGES)) {
    const { page, problems } = await chrome.open(name);
    assert.deepEqual(await page.locator("figure").evaluateAll((all) => all.map((figure) => figure.id)), Object.keys(figures), name);
    for (const [id, units] of Object.entries(figures)) {
      const words = (await page.locator(`#${id} svg`).allTextContents()).join(" ");
      for (const unit of units) assert.ok(words.includes(unit), `${name} ${id} says ${unit}: ${words}`);
      assert.ok((await page.locator(`#${id} .how p`).textContent()).split(/\.\s/).length <= 4, `${id} is explained in at most four sentences`);
      await page.locator(`#${id} details.data summary`).click();
      assert.match(await page.locator(`#${id} details.data tbody`).innerText(), /\d/, `${name} ${id} has numbers`);
    }
    const links = await page.locator(".tiles a, .contents a").evaluateAll((all) => all.map((a) => a.getAttribute("href")));
    assert.ok(links.length > 5, name);
    for (const link of links) assert.equal(await page.locator(`figure${link}`).count(), 1, `${name} ${link}`);
    assert.deepEqual(problems, []);
  }
});

test("the answer stands in large at the top, with its interval and the truth of the lab", async () => {
  const { page, problems } = await chrome.open("estimate-streams");
  assert.match(await page.locator("header .verdict-big").innerText(), /^6\.00 Mbit\/s\s+5\.97 to 6\.03 Mbit\/s$/);
  assert.equal(await page.locator("h1").innerText(), "5.97 to 6.03 Mbit/s are available from here to the far end.");
  assert.match(await title(page, "answer"), /^Available bandwidth: 6\.00 Mbit\/s \(5\.97 to 6\.03 Mbit\/s\); by the lab's counters 6\.00 Mbit\/s$/);
  assert.match(await page.locator(".tiles").innerText(), /pathload-fast[\s\S]*Truth of the lab\s+6\.00 Mbit\/s\s+the rate of b-c, 10 Mbit\/s, less 4 Mbit\/s that others sent over it[\s\S]*3\.4\d MB/);
  await page.locator("#answer .canvas").focus();
  const said = [];
  for (const key of ["ArrowRight", "ArrowDown"]) {
    await page.keyboard.press(key);
    said.push(await page.locator("#answer .live").textContent());
  }
  assert.match(said[0], /best guess[\s\S]*6\.00 Mbit\/s[\s\S]*at least[\s\S]*truth of the lab/);
  assert.deepEqual(problems, []);
});

test("without an answer the page says so, why, and what was not excluded", async () => {
  const { page, problems } = await chrome.open("estimate-chirps");
  assert.match(await page.locator("header .verdict-big").innerText(), /^INCONCLUSIVE\s+not sure: at least 4\.00 Mbit\/s$/);
  assert.match(await page.locator("h1").innerText(), /^The available bandwidth from here to the far end could not be told: at least 4\.00/);
  assert.match(await title(page, "answer"), /which is not sure/);
  // The bar of what is not believed is dashed.
  assert.ok((await page.locator("#answer svg path[stroke-dasharray]").count()) > 0);
  assert.deepEqual(problems, []);
});

test("hovering tells what was planned and arrived, and how long each probe waited", async () => {
  const { page, problems } = await chrome.open("estimate-streams");
  for (const [id, what, x, y] of [["trains", /s[\s\S]*planned[\s\S]*Mbit\/s[\s\S]*arrived[\s\S]*Mbit\/s/, 0.3, 0.4], ["probes", /probe \d+[\s\S]*train \d+, at [\d.]+ s[\s\S]*ms/, 0.5, 0.25], ["gaps", /worst gap[\s\S]*µs/, 0.3, 0.4]]) {
    await hover(page, id, x, y);
    await tipOf(page, id).waitFor({ timeout: 5_000 });
    assert.match(await tipOf(page, id).innerText(), what, id);
  }
  assert.deepEqual(problems, []);
});

test("losses are strokes at the foot, and counted in the title", async () => {
  const { page, problems } = await chrome.open("estimate-rtt");
  assert.match(await title(page, "trains"), /^\d+ of 500 probes in 10 trains were lost$/);
  assert.match(await title(page, "delays"), /are lost$/);
  for (const id of ["trains", "delays"]) assert.ok((await page.locator(`#${id} svg path[fill="#d55e00"]`).count()) > 2, `${id} has strokes`);
  assert.match(await title(page, "spread"), /^95 % of the round trips take at most [\d.]+ ms/);
  assert.deepEqual(problems, []);
});

test("modes and hops are told by what they mean", async () => {
  const pairs = await chrome.open("estimate-pairs");
  assert.match(await title(pairs.page, "modes"), /^Most pairs arrive at 9\.95 to 10\.1 Mbit\/s: 56\.0 % of them$/);
  const words = (await pairs.page.locator("#modes svg text").allTextContents()).join(" ");
  assert.ok(words.indexOf("4.90 to") < words.indexOf("9.95 to"), "the slowest first");
  assert.deepEqual(pairs.problems, []);
  const hops = await chrome.open("estimate-hops");
  assert.equal(await hops.page.locator("header .verdict-big").innerText(), "hop 2");
  assert.match(await title(hops.page, "hops"), /^From hop 2 on round trips are longer under load, there by 45\.0 ms$/);
  assert.match((await hops.page.locator("#hops svg").allTextContents()).join(" "), /3: silent/);
  assert.deepEqual(hops.problems, []);
});

test("a killed run shows what was sent, and has no answer", async () => {
  const { page, problems } = await chrome.open("estimate-killed");
  assert.match(await page.locator(".status").innerText(), /INCOMPLETE/);
  assert.equal(await page.locator(".verdict-big").count(), 0);
  assert.deepEqual(await page.locator("figure").evaluateAll((all) => all.map((figure) => figure.id)), ["trains", "delays", "spread", "gaps"]);
  assert.deepEqual(problems, []);
});

test("answers of several runs stand on one scale", async () => {
  const { page, problems } = await chrome.open("estimate-two");
  assert.equal(await title(page, "compare-answer"), "Available bandwidth by 2 runs");
  assert.equal(await page.locator(".run .verdict-big strong").innerText(), "6.00 Mbit/s");
  await page.locator("#which-run").selectOption("1");
  assert.match(await page.locator(".run .verdict-big").innerText(), /^INCONCLUSIVE/);
  assert.deepEqual(problems, []);
});

test("a figure is saved, paper has all of them, and a narrow window needs no sideways scrolling", async () => {
  const { page, problems } = await chrome.open("estimate-streams");
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#answer button", { hasText: "SVG" }).click()]);
  assert.match(readFileSync(await download.path(), "utf8"), /^<\?xml[\s\S]*<\/svg>\s*$/);
  await page.getByRole("button", { name: "Show in dark colours" }).click();
  assert.equal((await page.pdf({ format: "A4" })).subarray(0, 5).toString(), "%PDF-");
  await page.setViewportSize({ width: 400, height: 800 });
  await page.waitForTimeout(300);
  const [width, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(width <= window + 1, `${width} px in ${window}`);
  assert.deepEqual(problems, []);
});
