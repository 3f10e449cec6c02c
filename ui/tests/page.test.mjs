// The page in a real browser, with made-up records.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { browser, hover, pages, tipOf } from "./browser.mjs";

const FIGURES = ["timeline", "spread", "boxes", "streams", "voip", "web", "waterfall", "https", "dns", "hops", "strip", "marks", "queues", "tcp", "cpu", "equaliser"];
/** Words that the drawing of a figure must hold: the units of its axes. */
const UNITS = { timeline: ["Mbit/s", "ms", ", s"], spread: ["ms", "%"], boxes: ["ms"], streams: ["Mbit/s"], voip: ["ms", ", s"], web: ["ms", ", s"], waterfall: ["ms"], dns: ["ms", ", s"], hops: ["ms"], strip: ["ms", ", s"], queues: ["ms", "Mbit/s", "packets/s"], tcp: ["segments", "ms"], cpu: ["%", ", s"], equaliser: ["%"] };

let chrome;
before(async () => (chrome = await browser()));
after(async () => await chrome?.close());

// Holds rrul/equalizer.
test("a full run shows every figure, asks no network and has no errors", async () => {
  const { page, problems } = await chrome.open("bloated");
  assert.deepEqual(await page.locator("figure").evaluateAll((all) => all.map((figure) => figure.id)), FIGURES);
  for (const id of FIGURES) {
    const figure = page.locator(`#${id}`);
    assert.ok((await figure.locator("h3").innerText()).length > 8, `${id} has a title`);
    assert.ok((await figure.locator(".how p").textContent()).split(/\.\s/).length <= 4, `${id} is explained in at most four sentences`);
    const words = await figure.locator("svg").allTextContents();
    for (const unit of UNITS[id] ?? []) assert.ok(words.join(" ").includes(unit), `${id} says ${unit}`);
  }
  assert.match(await page.locator("h1").innerText(), /^Under load this path adds \d+ ms/);
  assert.deepEqual(problems, []);
});

test("page loads over different protocols are told apart", async () => {
  const { page, problems } = await chrome.open("bloated");
  const words = (await page.locator("#web svg").allTextContents()).join(" ");
  const kinds = ["own loader, HTTP/2", "own loader, HTTP/3", "Chromium, HTTP/2"];
  for (const kind of kinds) assert.ok(words.includes(kind), kind);
  const rows = await page.locator("#web .below tbody tr").evaluateAll((all) => all.map((row) => [...row.children].slice(0, 2).map((cell) => cell.textContent).join(" ")));
  assert.deepEqual(rows.sort(), kinds.flatMap((kind) => ["idle", "loaded"].map((phase) => `${kind} ${phase}`)).sort());
  const choices = await page.locator("#waterfall select option").allTextContents();
  assert.ok(kinds.every((kind) => choices.some((choice) => choice.startsWith(`loaded, ${kind}, slowest`))), choices.join(" | "));
  assert.deepEqual(problems, []);
});

test("the tables of marks do not cover each other", async () => {
  const { page } = await chrome.open("bloated");
  for (const width of [1280, 800, 390]) {
    await page.setViewportSize({ width, height: 900 });
    const boxes = await page.locator("#marks .matrix").evaluateAll((all) => all.map((table) => table.getBoundingClientRect().toJSON()));
    assert.ok(boxes.length >= 4);
    for (const [i, a] of boxes.entries()) for (const b of boxes.slice(i + 1)) assert.ok(a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top, `${width}: ${JSON.stringify([a, b])}`);
  }
});

test("the score has five parts, and each part and penalty leads to a figure", async () => {
  const { page } = await chrome.open("bloated");
  assert.equal(await page.locator(".score ol li").count(), 5);
  const links = await page.locator(".score a, .tiles a, .contents a").evaluateAll((all) => all.map((a) => a.getAttribute("href")));
  assert.ok(links.length > 20);
  for (const link of links) assert.equal(await page.locator(`figure${link}`).count(), 1, link);
});

test("hovering shows the value of every line with its unit", async () => {
  const { page, problems } = await chrome.open("bloated");
  for (const [id, what] of [["timeline", /down EF[\s\S]*Mbit\/s[\s\S]*UDP EF[\s\S]*UDP CS1[\s\S]*ms/], ["spread", /UDP CS0, loaded[\s\S]*%/], ["streams", /Mbit\/s/], ["voip", /up EF[\s\S]*ms/], ["hops", /hop \d[\s\S]*ms/], ["cpu", /client: busy[\s\S]*%/], ["queues", /queue[\s\S]*ms/], ["tcp", /segments/], ["waterfall", /rrul2013[\s\S]*ms/], ["equaliser", /IPv4[\s\S]*%/]]) {
    await hover(page, id, 0.62, ["waterfall", "hops", "cpu"].includes(id) ? 0.5 : 0.2);
    await tipOf(page, id).waitFor({ timeout: 5_000 });
    assert.match(await tipOf(page, id).innerText(), what, id);
  }
  assert.deepEqual(problems, []);
});

test("a drag zooms, the button and a double click show all again", async () => {
  const { page, problems } = await chrome.open("bloated");
  const canvas = page.locator("#timeline .canvas");
  await canvas.scrollIntoViewIfNeeded();
  // In which order they are drawn means nothing.
  const axis = async () => (await page.locator("#timeline svg text").allTextContents()).sort();
  const whole = await axis();
  const isWhole = async () => JSON.stringify(await axis()) === JSON.stringify(whole);
  // A busy machine draws a little later.
  const settles = async (wanted, what) => {
    for (let left = 50; left > 0 && (await isWhole()) !== wanted; left--) await page.waitForTimeout(100);
    assert.equal(await isWhole(), wanted, what);
  };
  const drag = async () => {
    const box = await canvas.boundingBox();
    await page.mouse.move(box.x + box.width * 0.5, box.y + 120);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.55, box.y + 120, { steps: 4 });
    await page.mouse.move(box.x + box.width * 0.6, box.y + 120, { steps: 4 });
    await page.mouse.up();
  };
  await drag();
  await settles(false, "a drag zooms");
  await page.locator("#timeline button", { hasText: "Reset" }).click();
  await settles(true, "the button resets");
  await drag();
  await settles(false, "a second drag zooms");
  await canvas.dblclick({ position: { x: 300, y: 120 } });
  await settles(true, "a double click resets");
  await page.locator("#timeline button", { hasText: "+" }).click();
  await settles(false, "the button zooms");
  assert.deepEqual(problems, []);
});

test("light and dark follow the system and the button", async () => {
  const paper = (page) => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const { page } = await chrome.open("bloated");
  const light = await paper(page);
  const inSvg = () => page.locator("#timeline svg").first().innerHTML();
  const drawn = await inSvg();
  await page.getByRole("button", { name: "Show in dark colours" }).click();
  assert.notEqual(await paper(page), light);
  assert.notEqual(await inSvg(), drawn, "the figures change too");
  await page.getByRole("button", { name: "Show in light colours" }).click();
  assert.equal(await paper(page), light);
  const dark = await browser({ colorScheme: "dark" });
  try {
    const opened = await dark.open("ping");
    assert.notEqual(await paper(opened.page), light);
    assert.deepEqual(opened.problems, []);
  } finally {
    await dark.close();
  }
});

test("text and class colours have enough contrast in light and dark", async () => {
  const luminance = (hex) => {
    const [r, g, b] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const source = readFileSync(new URL("../src/palette.ts", import.meta.url), "utf8");
  const themes = [...source.matchAll(/name: "(light|dark)",[^}]*/g)].map(([text]) => Object.fromEntries([...text.matchAll(/(\w+): "(#[0-9a-f]{6})"/g)].map(([, name, colour]) => [name, colour])));
  assert.equal(themes.length, 2);
  for (const theme of themes) {
    const against = (colour) => {
      const [a, b] = [luminance(theme.paper), luminance(colour)].sort((x, y) => y - x);
      return (a + 0.05) / (b + 0.05);
    };
    for (const name of ["ink", "faint"]) assert.ok(against(theme[name]) >= 4.5, `${name} ${theme[name]}`);
    for (const name of ["orange", "sky", "green", "blue", "vermillion", "purple"]) assert.ok(against(theme[name]) >= 3, `${name} ${theme[name]}: ${against(theme[name])}`);
  }
});

test("every control is reached by the keyboard, and arrows read out values", async () => {
  const { page, problems } = await chrome.open("bloated");
  const wanted = await page.evaluate(() => document.querySelectorAll("a[href], button, select, summary, [tabindex='0']").length);
  const hidden = await page.evaluate(() => [...document.querySelectorAll("details:not([open]) :is(a, button, select, [tabindex='0'])")].length);
  const reached = new Set();
  for (let i = 0; i < wanted + 20; i++) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => {
      const at = document.activeElement;
      at.dataset.reached ??= String(document.querySelectorAll("[data-reached]").length);
      return at === document.body ? "" : at.dataset.reached;
    }));
  }
  reached.delete("");
  assert.ok(reached.size >= wanted - hidden, `${reached.size} of ${wanted - hidden} reached`);
  for (const id of ["timeline", "spread", "boxes", "strip", "equaliser", "waterfall", "web"]) {
    await page.locator(`#${id} .canvas`).focus();
    const said = [];
    for (const key of ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowDown"]) {
      await page.keyboard.press(key);
      said.push(await page.locator(`#${id} .live`).textContent());
    }
    assert.ok(said[0].length > 5, `${id} reads out values: ${said[0]}`);
    assert.ok(new Set(said).size > 1, `${id}: arrows move`);
  }
  assert.deepEqual(problems, []);
});

test("the table behind each figure opens and holds numbers", async () => {
  const { page } = await chrome.open("bloated");
  for (const id of FIGURES.filter((id) => !["https", "marks"].includes(id))) {
    await page.locator(`#${id} details.data summary`).click();
    await page.locator(`#${id} details.data tbody tr`).first().waitFor();
  }
  for (const id of ["https", "marks"]) assert.ok((await page.locator(`#${id} td`).count()) > 4, id);
});

test("each figure saves as an SVG that is complete in itself", async () => {
  const { page } = await chrome.open("bloated");
  for (const id of ["timeline", "spread", "waterfall", "strip"]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator(`#${id} button`, { hasText: "SVG" }).click()]);
    assert.equal(download.suggestedFilename(), `isobath-${id}.svg`);
    const svg = readFileSync(await download.path(), "utf8");
    const parsed = await page.evaluate((text) => {
      const file = new DOMParser().parseFromString(text, "image/svg+xml");
      const foreign = [...file.querySelectorAll("[href], [*|href]")].map((element) => element.getAttribute("href") ?? element.getAttribute("xlink:href") ?? "").filter((href) => !/^(#|data:)/.test(href));
      return { error: file.querySelector("parsererror")?.textContent ?? null, root: file.documentElement.nodeName, title: file.querySelector("title")?.textContent, drawn: file.querySelectorAll("path, rect").length, foreign };
    }, svg);
    assert.equal(parsed.error, null, id);
    assert.equal(parsed.root, "svg");
    assert.equal(parsed.title, await page.locator(`#${id} h3`).innerText());
    assert.ok(parsed.drawn > 20, `${id} draws ${parsed.drawn}`);
    assert.deepEqual(parsed.foreign, []);
  }
});

test("it prints on A4 with every figure in it", async () => {
  const { page, problems } = await chrome.open("bloated", { all: false });
  const pdf = await page.pdf({ format: "A4", printBackground: true });
  assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
  const sheets = pdf.toString("latin1").match(/\/Type\s*\/Page\b/g)?.length ?? 0;
  assert.ok(sheets >= 5 && sheets <= 30, `${sheets} sheets`);
  assert.equal(await page.locator(".canvas:not([data-drawn])").count(), 0, "all figures were drawn for it");
  assert.deepEqual(problems, []);
});

test("three runs are compared in words and on the same axes", async () => {
  const { page, problems } = await chrome.open("three");
  const table = await page.locator(".comparison table").first().innerText();
  assert.match(table, /no difference seen/);
  assert.match(table, /ms shorter/);
  assert.deepEqual(await page.locator(".comparison figure").evaluateAll((all) => all.map((figure) => figure.id)), ["compare-quantiles", "compare-timeline", "compare-rates"]);
  assert.match(await page.locator("h1").innerText(), /^Of 3 runs/);
  const before = await page.locator(".run .sentence").innerText();
  await page.locator("#which-run").selectOption("1");
  assert.notEqual(await page.locator(".run .sentence").innerText(), before);
  await page.waitForFunction(() => document.querySelector("#timeline .canvas")?.dataset.drawn === "yes");
  assert.deepEqual(problems, []);
});

test("a run of nothing but round trips has their figures and no others", async () => {
  const { page, problems } = await chrome.open("ping");
  assert.deepEqual(await page.locator("figure").evaluateAll((all) => all.map((figure) => figure.id)), ["timeline", "spread", "boxes", "marks"]);
  assert.match(await page.locator("h1").innerText(), /without load/);
  assert.deepEqual(problems, []);
});

test("round trips of a host that answers pings only are shown as what they are", async () => {
  const { page, problems } = await chrome.open("echo");
  assert.match(await page.locator("h1").innerText(), /medians?, ICMP/);
  assert.match(await page.locator(".tiles").innerText(), /ICMP round trip, median/);
  const words = (await page.locator("#timeline svg text").allTextContents()).join(" ");
  assert.match(words, /ICMP round trip, ms/);
  assert.doesNotMatch(await page.locator("main, body").first().innerText(), /UDP round trip/);
  assert.deepEqual(problems, []);
});

test("an invalid run says so before its figures", async () => {
  const { page, problems } = await chrome.open("invalid");
  assert.match(await page.locator(".status").innerText(), /INVALID/);
  assert.match(await page.locator(".warnings").innerText(), /98 % busy/);
  assert.deepEqual(problems, []);
});

test("a run that was killed shows what there is, and what is missing", async () => {
  const { page, problems } = await chrome.open("incomplete");
  assert.match(await page.locator(".status").innerText(), /INCOMPLETE/);
  assert.match(await page.locator(".absent").innerText(), /load streams/);
  assert.equal(await page.locator("#timeline").count(), 1);
  assert.deepEqual(problems, []);
});

test("a record of another test has its summary as a table, and its texts stay texts", async () => {
  const { page, problems } = await chrome.open("other");
  assert.equal(await page.locator("figure").count(), 0);
  const text = await page.locator("main").innerText();
  for (const words of ["verdict PASS", "tcp gbps", "not measured", "others took 12 %"]) assert.ok(text.includes(words) || text.includes("tcp, Gbit/s"), words);
  assert.match(text, /<\/script><script>alert/);
  assert.deepEqual(problems, []);
  const failed = await chrome.open("failed");
  assert.match(await failed.page.locator(".status").innerText(), /FAILED/);
  assert.deepEqual(failed.problems, []);
});

test("an experiment says what was claimed, what was found, and whose numbers are drawn", async () => {
  const { page, problems } = await chrome.open("experiment");
  assert.match(await page.locator("h1").innerText(), /agree/);
  assert.match(await page.locator(".claims").innerText(), /2 of 3 claims hold; 1 cannot be told[\s\S]*does not hold/);
  assert.deepEqual(await page.locator("figure").evaluateAll((all) => all.map((figure) => figure.id)), ["stability", "throughput-rtt", "pairs", "losses"]);
  assert.match(await page.locator("main").innerText(), /pairs, % \(paper\)[\s\S]*<\/script><script>alert/);
  for (const [id, what] of [["stability", /difference [\d.]+ %[\s\S]*paper[\s\S]*isobath[\s\S]*%/], ["throughput-rtt", /round trip [\d.]+ ms[\s\S]*loss 0.1 %[\s\S]*Mbit\/s \([\d.]+ to/], ["losses", /satellite[\s\S]*lost \(paper\)[\s\S]*3.20 %/]]) {
    await hover(page, id, 0.6, 0.5);
    await tipOf(page, id).waitFor({ timeout: 5_000 });
    assert.match(await tipOf(page, id).innerText(), what, id);
  }
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#stability button", { hasText: "SVG" }).click()]);
  assert.match(readFileSync(await download.path(), "utf8"), /^<\?xml[\s\S]*difference, %/);
  const pdf = await page.pdf({ format: "A4" });
  assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
  assert.deepEqual(problems, []);
});

test("cases lie below each other where they have no room beside each other, and say who they are", async () => {
  const { page, problems } = await chrome.open("experiment");
  const places = () => page.locator("#losses svg text").evaluateAll((all) => all.filter(({ textContent }) => ["DSL", "satellite"].includes(textContent)).map((text) => Math.round(text.getBoundingClientRect().y)));
  const [beside, other] = await places();
  assert.equal(beside, other);
  await page.setViewportSize({ width: 280, height: 800 });
  await page.waitForFunction(() => new Set([...document.querySelectorAll("#losses svg text")].filter(({ textContent }) => ["DSL", "satellite"].includes(textContent)).map((text) => Math.round(text.getBoundingClientRect().y))).size === 2);
  await hover(page, "losses", 0.9, 0.62);
  await tipOf(page, "losses").waitFor({ timeout: 5_000 });
  assert.match(await tipOf(page, "losses").innerText(), /satellite[\s\S]*lost \(paper\)[\s\S]*3.20 %/);
  assert.deepEqual(problems, []);
});

test("five minutes make a page below 5 MB", async (t) => {
  const bytes = statSync(join(pages, "five-minutes.html")).size;
  assert.ok(bytes < 5_000_000, `${bytes} bytes`);
  const { page, problems } = await chrome.open("five-minutes", { all: false });
  const ready = await page.evaluate(() => performance.getEntriesByName("isobath-ready")[0].startTime);
  // Said, not asserted: it depends on the machine.
  t.diagnostic(`five minutes: ${(bytes / 1e6).toFixed(2)} MB, ready after ${ready.toFixed(0)} ms`);
  assert.deepEqual(problems, []);
});

test("a narrow window needs no sideways scrolling", async () => {
  const { page } = await chrome.open("bloated");
  await page.setViewportSize({ width: 420, height: 800 });
  await page.waitForTimeout(300);
  const [width, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(width <= window + 1, `${width} px in ${window}`);
});
