// The page of a run of responsiveness in a real browser, with a made-up record.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browser, hover, tipOf } from "./browser.mjs";

let chrome;
before(async () => (chrome = await browser()));
after(async () => await chrome?.close());

test("the load, the requests and the round trips a minute are drawn over one time, with units", async () => {
  const { page, problems } = await chrome.open("rpm");
  assert.deepEqual(await page.locator("figure").evaluateAll((all) => all.map((figure) => figure.id)), ["rpm", "requests"]);
  assert.equal(await page.locator("#rpm h3").innerText(), "612 RPM while it loads down, 1,840 RPM while it loads up; 2,904 idle");
  const words = (await page.locator("#rpm svg").allTextContents()).join(" ");
  for (const unit of ["Mbit/s of HTTP payload", "request, ms", "Round trips a minute", "run's start, s", "HTTP, loaded connection", "failed"]) assert.ok(words.includes(unit), `${unit}: ${words}`);
  await hover(page, "rpm", 0.4, 0.2);
  assert.match(await tipOf(page, "rpm").innerText(), /load down\s+20\.0 Mbit\/s[\s\S]*TCP handshake\s+[\d.]+ ms[\s\S]*HTTP, loaded connection\s+[\d.]+ ms/);
  await page.locator("#rpm details.data summary").click();
  assert.match(await page.locator("#rpm details.data tbody").innerText(), /6\.00\s+down\s+12\.0\s+1\s+–/);
  assert.deepEqual(problems, []);
});

test("each step is told idle and under load, and what failed is counted", async () => {
  const { page, problems } = await chrome.open("rpm");
  assert.match(await page.locator("#requests h3").innerText(), /answered in 2\d\.\d ms idle and [67]\d\.\d ms under load; 2 requests came to nothing$/);
  const rows = await page.locator("#requests tbody tr").evaluateAll((all) => all.map((row) => row.innerText.split("\t").slice(0, 3).join(" ")));
  assert.deepEqual(rows.slice(0, 3), ["TCP handshake idle 10", "TCP handshake down 450", "TCP handshake up 450"]);
  assert.match(await page.locator(".tiles").innerText(), /RPM, load down\s+612\s+confidence high[\s\S]*Goodput up\s+4\.90 Mbit\/s\s+10 connections/);
  assert.deepEqual(problems, []);
});
