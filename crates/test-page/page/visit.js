// A page that is loaded again and again, as people load pages: by the browser itself, in a frame of this document that nobody sees. The server
// closes the connections of each load, so that the next one begins with its own.
const now = () => performance.timeOrigin + performance.now();
/** How long the last objects may take once the page counts as loaded. */
const GRACE = 1000, LOOK = 20;
const FAILED = "the page could not be loaded";

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const passed = (from, to) => (to > from ? to - from : null);

/** The phases of an object (Resource Timing), in milliseconds. Those of a connection are told of the request that opened it. */
function object(entry) {
  const file = new URL(entry.name).pathname.split("/").pop();
  const opens = entry.connectEnd > entry.connectStart;
  const tls = opens && entry.secureConnectionStart > 0 ? entry.secureConnectionStart : entry.connectEnd;
  const came = entry.responseStart > 0;
  return {
    object: Number.parseInt(file, 10) || 0,
    found: entry.startTime,
    blocked: passed(entry.startTime, opens ? entry.domainLookupStart : entry.requestStart),
    dns: opens ? passed(entry.domainLookupStart, entry.domainLookupEnd) : null,
    connect: opens ? passed(entry.connectStart, tls) : null,
    tls: opens ? passed(tls, entry.connectEnd) : null,
    wait: came ? Math.max(0, entry.responseStart - entry.requestStart) : null,
    receive: came ? Math.max(0, entry.responseEnd - entry.responseStart) : null,
    total: came ? Math.max(0, entry.responseEnd - entry.startTime) : null,
    bytes: entry.encodedBodySize,
    status: entry.responseStatus || null,
  };
}

/** What a frame's page tells of its load. */
async function told(frame, origin, objects) {
  const timing = frame.contentWindow.performance, until = now() + GRACE;
  // What the browser's extensions load is not the page's.
  const isOurs = ({ name }) => name.startsWith(frame.src);
  const all = () => [...timing.getEntriesByType("navigation"), ...timing.getEntriesByType("resource")];
  const entries = () => all().filter(isOurs).slice(0, objects);
  const ended = () => entries().length >= objects && entries()[0].loadEventEnd > 0;
  while (!ended() && now() < until) await pause(LOOK);
  const [document] = entries();
  if (!document?.responseStart) throw new Error(FAILED);
  return {
    started: timing.timeOrigin - origin,
    first_byte: document.responseStart,
    loaded: document.loadEventEnd || null,
    objects: entries().map(object),
  };
}

/** Loads `url` once. Without a load event when its time was up before; with an error when there was no page. */
async function visit(url, origin, until, objects) {
  const began = now(), frame = document.createElement("iframe");
  frame.tabIndex = -1;
  frame.setAttribute("aria-hidden", "true");
  const arrived = new Promise((resolve) => {
    frame.onload = () => resolve(true);
    setTimeout(resolve, until - began, false);
  });
  frame.src = url;
  document.body.append(frame);
  const load = { started: began - origin, first_byte: null, loaded: null, error: null, objects: [] };
  try {
    if (await arrived) Object.assign(load, await told(frame, origin, objects));
  } catch {
    // A page of the browser's own about what went wrong is not ours to look into.
    load.error = FAILED;
  }
  load.spent = load.loaded ?? now() - began;
  frame.remove();
  return load;
}

/** Loads the page in each of the plan's phases, until `over` is aborted. `closed` is called with a load's number after it, and keeps its promise when its connections are closed. */
export async function visits({ pages, run }, origin, closed, over) {
  const loads = [];
  if (!pages) return loads;
  for (const [from, to] of pages.phases_ms) {
    // Timers leave fractions of a millisecond out, and what begins before its phase is not in it.
    await pause(origin + from - now() + 2);
    while (!over.aborted && now() + pages.pause_ms < origin + to) {
      loads.push(await visit(`/v1/pages/${run}/${loads.length}/`, origin, origin + to, pages.objects));
      await closed(loads.length - 1);
      await pause(pages.pause_ms);
    }
  }
  return loads;
}
