// The page of a run of IP-layer capacity in a real browser, with a made-up record.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browser, hover, tipOf } from "./browser.mjs";

let chrome;
before(async () => (chrome = await browser()));
after(async () => await chrome?.close());

test("rates and delays of both directions are drawn over one time, with units", async () => {
  const { page, problems } = await chrome.open("udpst");
  assert.deepEqual(await page.locator("figure").evaluateAll((all) => all.map((figure) => figure.id)), ["udpst"]);
  assert.equal(await page.locator("#udpst h3").innerText(), "IP-layer capacity: 20.0 Mbit/s down, 5.00 Mbit/s up");
  const words = (await page.locator("#udpst svg").allTextContents()).join(" ");
  for (const unit of ["IP packets that arrived, Mbit/s", "Delay above the least, ms", "run's start, s", "sub-intervals up"]) assert.ok(words.includes(unit), `${unit}: ${words}`);
  await hover(page, "udpst", 0.3, 0.2);
  assert.match(await tipOf(page, "udpst").innerText(), /sub-intervals down\s+20\.0 Mbit\/s[\s\S]*round trip down\s+[\d.]+ ms/);
  await page.locator("#udpst details.data summary").click();
  assert.match(await page.locator("#udpst details.data tbody").innerText(), /1\.00\s+down\s+12\.0\s+/);
  assert.match(await page.locator(".tiles").innerText(), /IP-layer capacity up\s+5\.00 Mbit\/s\s+0\.50 % lost, 10 sub-intervals/);
  assert.deepEqual(problems, []);
});
