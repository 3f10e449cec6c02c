// The page of tests whether a path carries a rate, in a real browser, with made-up records.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { browser, hover, LIGHT, marksOf, tipOf } from "./browser.mjs";

/** The figures of tests of a path. */
const MBM = ["suite", "sprt", "scan", "rounds", "arrivals", "burst-times"];

let chrome;
before(async () => (chrome = await browser()));
after(async () => await chrome?.close());

test("a suite of tests says its verdict in words, shapes and figures", async () => {
  const { page, problems } = await chrome.open("mbm");
  assert.equal(await page.locator("header .verdict-big").innerText(), "FAIL");
  assert.match(await page.locator("h1").innerText(), /^This path does not carry 10 Mbit\/s over 80 ms: sustained-burst, congestion-avoidance and slow-start-aqm fail\.$/);
  assert.deepEqual(await page.locator("figure").evaluateAll((all) => all.map((figure) => figure.id)), ["suite", "sprt", "scan", "rounds", "arrivals", "burst-times", "queues"]);
  const links = await page.locator(".tiles a, .contents a").evaluateAll((all) => all.map((a) => a.getAttribute("href")));
  assert.ok(links.length >= 12);
  for (const link of links) assert.equal(await page.locator(`figure${link}`).count(), 1, link);
  for (const id of MBM) assert.ok((await page.locator(`#${id} .how p`).textContent()).split(/\.\s/).length <= 4, `${id} is explained in at most four sentences`);
  assert.match(await page.locator(".tiles").innerText(), /70 packets[\s\S]*14,700 packets[\s\S]*0\.0068 \/ 0\.027\s%[\s\S]*31\.0 ms/);
  assert.deepEqual(problems, []);
});

test("each test has its verdict, why, what would change it, and its losses with their interval", async () => {
  const { page, problems } = await chrome.open("mbm");
  const rows = page.locator("#suite .suite tbody tr");
  assert.equal(await rows.count(), 7);
  const told = await rows.nth(1).innerText();
  assert.match(told, /full-window-slow-start\s+RFC 8337, 8\.3\.1\s+INCONCLUSIVE\s+3 of 20500[\s\S]*14301 packets more[\s\S]*3 of 20,500\s+0\.015 % \(0 to 0\.046\)[\s\S]* s\s/);
  // A verdict is told by its shape too.
  const shapes = await rows.locator(".badge .shape").evaluateAll((all) => new Set(all.map((shape) => shape.getAttribute("d"))).size);
  assert.equal(shapes, 4);
  await page.locator("#suite details.data summary").click();
  await page.locator("#suite details.data tbody tr").first().waitFor();
  assert.match(await page.locator("#suite details.data").innerText(), /sender-rate-burst\s+precondition pattern\s+DID NOT HOLD: of \d+ bursts 7 were late/);
  assert.deepEqual(problems, []);
});

test("the sequential test is a stair between two lines, and its end has the verdict", async () => {
  const { page, problems } = await chrome.open("mbm");
  const words = (await page.locator("#sprt svg").allTextContents()).join(" ");
  for (const what of ["✓ PASS  paced-full-rate: lost or marked packets", "? INCONCLUSIVE  full-window-slow-start", "✕ FAIL  sustained-burst", "fails from this line on", "passes up to this line", "packets whose fate is known"]) assert.ok(words.includes(what), what);
  await hover(page, "sprt", 0.42, 0.3);
  await tipOf(page, "sprt").waitFor({ timeout: 5_000 });
  assert.match(await tipOf(page, "sprt").innerText(), /paced-full-rate: [\d,]+ packets[\s\S]*lost or marked\s+1[\s\S]*fails from\s+\d+[\s\S]*passes up to\s+\d+/);
  await page.locator("#sprt details.data summary").click();
  await page.locator("#sprt details.data tbody tr").first().waitFor();
  assert.match(await page.locator("#sprt details.data tbody tr").last().innerText(), /sustained-burst\s+70\s+29\s+0\s+2\.1/);
  assert.deepEqual(problems, []);
});

test("a growing window shows where the queue begins, and where it is full", async () => {
  const { page, problems } = await chrome.open("mbm");
  const words = (await page.locator("#scan svg").allTextContents()).join(" ");
  for (const what of ["queue begins: 32", "first loss: 73", "target, 10.4", "delivered, Mbit/s with headers", "round trip, ms", "lost or marked, packets", "window, packets"]) assert.ok(words.includes(what), what);
  await page.locator("#scan select").selectOption("1");
  for (const [id, what] of [["scan", /window of \d+ packets[\s\S]*Mbit\/s[\s\S]*ms[\s\S]*lost\s+0 of/], ["rounds", /round 2[\s\S]*waited\s+[\d.]+ ms[\s\S]*lost or marked\s+9/]]) {
    await hover(page, id, id === "scan" ? 0.6 : 0.17, 0.35);
    await tipOf(page, id).waitFor({ timeout: 5_000 });
    assert.match(await tipOf(page, id).innerText(), what, id);
  }
  assert.deepEqual(problems, []);
});

test("bursts leave as upright rows and arrive as slopes", async () => {
  const { page, problems } = await chrome.open("mbm");
  assert.match(await page.locator("#arrivals h3").innerText(), /^Of the first \d+ packets of sustained-burst, in bursts of 70, \d+ have no reported arrival$/);
  const [left, arrived] = [await marksOf(page, "arrivals", LIGHT.blue), await marksOf(page, "arrivals", LIGHT.green)];
  assert.ok(left > 30 && arrived > 100, `${left} and ${arrived} dots`);
  assert.match(await page.locator("#burst-times h3").innerText(), /sustained-burst take [\d.]+ times as long to arrive as to leave/);
  await page.locator("#arrivals select").selectOption({ label: "paced-full-rate, PASS" });
  assert.match(await page.locator("#arrivals h3").innerText(), /paced-full-rate leave one by one, 1\.15 ms apart/);
  await hover(page, "arrivals", 0.5, 0.5);
  await tipOf(page, "arrivals").waitFor({ timeout: 5_000 });
  assert.match(await tipOf(page, "arrivals").innerText(), /ms[\s\S]*left\s+packets? \d+[\s\S]*arrived\s+packets? \d+/);
  assert.deepEqual(problems, []);
});

test("figures of tests are reached by the keyboard, saved and printed", async () => {
  const { page, problems } = await chrome.open("mbm");
  for (const id of MBM.filter((id) => id !== "suite")) {
    await page.locator(`#${id} .canvas`).focus();
    const said = [];
    for (const key of ["ArrowRight", "ArrowRight", "PageDown", "ArrowDown"]) {
      await page.keyboard.press(key);
      said.push(await page.locator(`#${id} .live`).textContent());
    }
    assert.ok(said[0].length > 5 && new Set(said).size > 1, `${id} reads out values: ${said}`);
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator(`#${id} button`, { hasText: "SVG" }).click()]);
    assert.equal(download.suggestedFilename(), `isobath-${id}.svg`);
    assert.match(readFileSync(await download.path(), "utf8"), /^<\?xml[\s\S]*<\/svg>\s*$/);
  }
  await page.getByRole("button", { name: "Show in dark colours" }).click();
  const pdf = await page.pdf({ format: "A4" });
  assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
  await page.setViewportSize({ width: 420, height: 800 });
  await page.waitForTimeout(300);
  const [width, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(width <= window + 1, `${width} px in ${window}`);
  assert.deepEqual(problems, []);
});

test("runs of tests stand beside each other by their verdicts", async () => {
  const { page, problems } = await chrome.open("mbm-two");
  assert.match(await page.locator("h1").innerText(), /^1 of 2 runs finds a path that carries 10 Mbit\/s over 80 ms: lab long-queue\.$/);
  const rows = await page.locator(".by-run tbody tr").allInnerTexts();
  assert.match(rows[0], /all tests together\s+PASS\s+FAIL/);
  assert.ok(rows.some((row) => /^sustained-burst\s+PASS\s+0 of 14,420 lost or marked\s+FAIL\s+29 of 70/.test(row)), rows.join("\n"));
  assert.ok(rows.some((row) => /^bufferbloat\s+not made\s+PASS/.test(row)));
  assert.equal(await page.locator(".run .verdict-big").innerText(), "PASS");
  await page.locator("#which-run").selectOption("1");
  assert.equal(await page.locator(".run .verdict-big").innerText(), "FAIL");
  assert.deepEqual(problems, []);
});

test("tests that were killed have no verdict, and what left and arrived is shown", async () => {
  const { page, problems } = await chrome.open("mbm-killed");
  assert.match(await page.locator(".status").innerText(), /INCOMPLETE/);
  assert.equal(await page.locator(".verdict-big").count(), 0);
  assert.match(await page.locator("#suite h3").innerText(), /paced-full-rate has no verdict/);
  assert.ok((await marksOf(page, "arrivals", LIGHT.green)) > 100);
  assert.deepEqual(problems, []);
});
