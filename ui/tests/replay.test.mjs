// The pages of replays in a real browser, with made-up records.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browser, hover, tipOf } from "./browser.mjs";

const FIGURES = ["durations", "responses", "queue-lengths", "queue-time", "active", "throughput", "strata", "marginals", "logscale", "lateness"];
/** Words that the drawing of a figure must hold: the units of its axes. */
const UNITS = { durations: ["duration, ms", "%"], responses: ["response time, ms"], "queue-lengths": ["queue, ms"], "queue-time": ["ms to drain", "packets", ", s"], active: ["connections", ", s"], throughput: ["Mbit/s", "packets/s", ", s"], strata: ["duration, ms"], marginals: ["kpackets/s"], logscale: ["octave", "ms", "log₂"], lateness: ["lateness, ms"] };

let chrome;
before(async () => (chrome = await browser()));
after(async () => await chrome?.close());

const ids = (page) => page.locator("figure").evaluateAll((all) => all.map((figure) => figure.id));
const title = (page, id) => page.locator(`#${id} h3`).innerText();

// Holds tmix/figures, tmix/strata.
test("a replay shows every figure with its finding and its units", async () => {
  const { page, problems } = await chrome.open("replay");
  assert.deepEqual(await ids(page), [...FIGURES, "cpu"]);
  for (const id of FIGURES) {
    const words = (await page.locator(`#${id} svg`).allTextContents()).join(" ");
    for (const unit of UNITS[id]) assert.ok(words.includes(unit), `${id} says ${unit}`);
    assert.match(await title(page, id), /\d/, `${id} says a figure`);
    assert.ok((await page.locator(`#${id} .how p`).textContent()).split(/\.\s/).length <= 4, `${id} is explained in at most four sentences`);
  }
  assert.match(await page.locator("h1").innerText(), /of the \d+ connections of the replay came to their end; half of them took at most [\d.]+ ms/);
  assert.deepEqual(problems, []);
});

test("hovering tells the share of every curve, and what each direction carries", async () => {
  const { page, problems } = await chrome.open("replay");
  for (const [id, what] of [["durations", /up to [\d,.]+ ms[\s\S]*from the first octet sent[\s\S]*%[\s\S]*from connect[\s\S]*%/], ["queue-time", /s[\s\S]*ms/], ["active", /SYN[\s\S]*\/s/], ["throughput", /Forward[\s\S]*Mbit\/s[\s\S]*Reverse[\s\S]*Mbit\/s/], ["marginals", /bins of 1 s[\s\S]*bins of 10 ms[\s\S]*%/]]) {
    await hover(page, id, 0.3, 0.2);
    await tipOf(page, id).waitFor({ timeout: 5_000 });
    assert.match(await tipOf(page, id).innerText(), what, id);
  }
  assert.deepEqual(problems, []);
});

test("the queue is told in ms or in packets", async () => {
  const { page, problems } = await chrome.open("replay");
  const axis = async () => (await page.locator("#queue-lengths svg").allTextContents()).join(" ");
  assert.match(await title(page, "queue-lengths"), /above [\d,.]+ ms/);
  await page.locator("#queue-lengths select").selectOption("1");
  assert.match(await title(page, "queue-lengths"), /above [\d,.]+ packets/);
  assert.match(await axis(), /queue, packets/);
  assert.deepEqual(problems, []);
});

test("warm-up and cool-down are hatched, and the tables hold what the curves say", async () => {
  const { page, problems } = await chrome.open("replay");
  for (const id of ["queue-time", "active", "throughput"]) assert.ok((await page.locator(`#${id} svg pattern`).count()) > 0, `${id} is hatched`);
  for (const id of FIGURES) {
    const details = page.locator(`#${id} details.data`);
    await details.locator("summary").click();
    await details.locator("tbody td").first().waitFor();
    const cells = await details.locator("tbody td").allInnerTexts();
    assert.ok(cells.some((cell) => /\d/.test(cell)), `${id} has numbers`);
  }
  const estimates = await page.locator("#logscale tbody tr").allInnerTexts();
  assert.equal(estimates.filter((row) => row.includes("chosen")).length, 1, estimates.join("\n"));
  assert.deepEqual(problems, []);
});

test("replays stand beside each other: models by colour, modes by dashes", async () => {
  const { page, problems } = await chrome.open("replays");
  assert.deepEqual((await ids(page)).filter((id) => id.startsWith("compare-")), FIGURES.map((id) => `compare-${id}`));
  assert.match(await title(page, "compare-durations"), /a-t-b-t, (un)?constrained[\s\S]*|block-sequential/);
  const legend = (await page.locator("#compare-durations svg text").allTextContents()).filter((text) => /constrained/.test(text));
  assert.deepEqual(legend, ["a-t-b-t, constrained", "a-t-b-t, unconstrained", "block-sequential, constrained"]);
  const curves = await page.locator("#compare-durations svg path[stroke-dasharray]").evaluateAll((all) => all.filter((path) => path.getAttribute("stroke-width") === "1.8").map((path) => path.getAttribute("stroke")));
  assert.equal(new Set(curves).size, 1, "one colour is dashed");
  assert.deepEqual(problems, []);
});

test("replays by the same models have a colour each", async () => {
  const { page, problems } = await chrome.open("replays-alike");
  for (const id of ["compare-durations", "compare-queue-time"]) {
    const entries = await page.locator(`#${id} svg path`).evaluateAll((all) => all.map((path) => path.getAttribute("stroke")).filter((stroke) => stroke && stroke !== "none" && stroke !== "transparent"));
    const colours = new Set(["#0072B2", "#D55E00"].filter((one) => entries.some((stroke) => stroke.toLowerCase() === one.toLowerCase())));
    assert.equal(colours.size, 2, `${id}: ${[...new Set(entries)]}`);
  }
  assert.deepEqual(problems, []);
});

// Holds tmix/figures.
test("a family of replays is drawn by an experiment, with variants of a name in its colour", async () => {
  const { page, problems } = await chrome.open("replay-family");
  const all = await ids(page);
  for (const name of ["durations", "durations-fast", "durations-tail", "responses-tail", "queue", "queue-time", "active", "packets", "arrivals-1s", "arrivals-10ms", "spectrum"]) assert.ok(all.includes(`structure-${name}`), name);
  await hover(page, "structure-durations", 0.6, 0.5);
  await tipOf(page, "structure-durations").waitFor({ timeout: 5_000 });
  assert.match(await tipOf(page, "structure-durations").innerText(), /a-t-b-t, usernet, constrained[\s\S]*a-t-b-t, usernet, unconstrained[\s\S]*%/);
  const strokes = await page.locator("#structure-durations svg path").evaluateAll((paths) => paths.filter((path) => path.getAttribute("fill") === "none" && path.getAttribute("stroke-width") === "2").map((path) => [path.getAttribute("stroke"), !!path.getAttribute("stroke-dasharray")]));
  const dashed = strokes.filter(([, dash]) => dash).map(([colour]) => colour);
  assert.ok(dashed.length > 0 && dashed.every((colour) => strokes.some(([other, dash]) => !dash && other === colour)), JSON.stringify(strokes));
  assert.match(await page.locator("main").innerText(), /The replays in figures[\s\S]*Hurst/);
  assert.deepEqual(problems, []);
});

test("a narrow window needs no sideways scrolling, and paper has all figures", async () => {
  const { page, problems } = await chrome.open("replay");
  await page.setViewportSize({ width: 400, height: 800 });
  await page.waitForTimeout(300);
  const [width, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(width <= window + 1, `${width} px in ${window}`);
  assert.equal((await page.pdf({ format: "A4" })).subarray(0, 5).toString(), "%PDF-");
  assert.deepEqual(problems, []);
});
