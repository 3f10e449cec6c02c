// The run's conversation, its round trips and its call: in a worker, so that nothing which the page draws makes them longer.
"use strict";
const now = () => performance.timeOrigin + performance.now();
const AWAITED = 2000;
/** How long a session of datagrams may take to open. */
const PATIENCE = 3000;
const PROBE = 0, CALL = 1, TICK = 5;

let socket, plan, timer, talking;
let origin = null, serverOrigin = 0n, least = Infinity, next = 0;
/** Where datagrams go, if there are any; and why not. */
let datagrams = null, without = "this server has none";
const asked = new Map();
const samples = [];
const call = { sent: [], heard: [] };
const failures = [];

function packet(kind, number, length) {
  const octets = new Uint8Array(length), view = new DataView(octets.buffer);
  view.setUint8(0, kind);
  view.setUint32(4, number, true);
  return octets;
}

function ask() {
  const probe = packet(PROBE, next, 16), sent = now();
  asked.set(next++, sent);
  if (datagrams) datagrams.send(probe);
  else socket.send(probe);
}

function answered(octets) {
  const back = now(), reply = new DataView(octets.buffer, octets.byteOffset, octets.byteLength);
  const number = reply.getUint32(4, true), sent = asked.get(number);
  if (sent === undefined) return;
  asked.delete(number);
  least = Math.min(least, back - sent);
  if (origin === null || sent < origin) return;
  const far = Number(reply.getBigUint64(octets.byteLength - 8, true) - serverOrigin) / 1e6;
  samples.push([sent - origin, back - sent, far]);
  postMessage({ sample: [sent - origin, back - sent] });
}

/** Sends the datagram of the call whose moment it is. Those whose moment has passed are left out: a burst is no call. */
function talk() {
  const at = now() - origin, number = Math.floor(at / plan.datagrams.call_gap_ms);
  if (at < 0 || at >= plan.total_ms || number < call.sent.length) return;
  while (call.sent.length < number) call.sent.push(null);
  call.sent.push(now() - origin);
  datagrams.send(packet(CALL, number, plan.datagrams.call_bytes));
}

function came(octets) {
  if (octets[0] === PROBE && octets.length >= 24) return answered(octets);
  if (octets[0] !== CALL || octets.length < 8) return;
  // The first may come before the server's word that the run has begun.
  call.heard.push([new DataView(octets.buffer, octets.byteOffset).getUint32(4, true), now()]);
}

/** Opens a session of datagrams, if this browser and this page can have one. */
async function open() {
  if (!plan.datagrams) return;
  if (!self.WebTransport) {
    without = self.isSecureContext ? "this browser has no WebTransport" : "browsers have WebTransport only on pages that came by HTTPS";
    return;
  }
  const { certificate } = plan.datagrams;
  // As the browser sees it: a mapping may stand between.
  const port = location.port || (location.protocol === "https:" ? 443 : 80);
  const value = Uint8Array.from(certificate.match(/../g), (octet) => parseInt(octet, 16));
  const url = `https://${location.hostname}:${port}/v1/datagrams/${plan.run}`;
  let session, is_open = false;
  try {
    session = new WebTransport(url, { congestionControl: "low-latency", serverCertificateHashes: [{ algorithm: "sha-256", value }] });
    session.closed.then(() => is_open && lost(), () => is_open && lost());
    const late = new Promise((_, reject) => setTimeout(() => reject(new Error("no answer")), PATIENCE));
    await Promise.race([session.ready, late]);
    is_open = true;
    const writer = session.datagrams.writable.getWriter();
    datagrams = { send: (octets) => { writer.write(octets).catch(() => {}); } };
    hear(session.datagrams.readable.getReader());
  } catch (error) {
    without = `UDP port ${port} of this server cannot be reached (${error.message})`;
    session?.close();
  }
}

async function hear(reader) {
  try {
    for (let of = await reader.read(); !of.done; of = await reader.read()) came(of.value);
  } catch {
    lost();
  }
}

function lost() {
  if (!failures.length && (origin === null || now() < origin + plan.total_ms)) failures.push("datagrams: the session was closed");
}

function over() {
  clearInterval(timer);
  clearInterval(talking);
  const last = origin + plan.total_ms;
  setTimeout(() => {
    for (const sent of asked.values()) if (sent >= origin && sent < last) samples.push([sent - origin, null, null]);
    samples.sort((a, b) => a[0] - b[0]);
    postMessage({ over: { samples: samples.filter(([sent]) => sent < plan.total_ms), failures, ...(datagrams ? { call: { sent: call.sent, heard: call.heard.map(([number, at]) => [number, at - origin]) } } : {}) } });
  }, AWAITED);
}

const heard = {
  async plan(told) {
    plan = told;
    await open();
    timer = setInterval(ask, plan.gap_ms);
    // The first round trips tell how far away the server's clock is.
    setTimeout(() => socket.send(datagrams ? "begin with datagrams" : "begin"), 10 * plan.gap_ms);
  },
  begun({ clock_ns }) {
    serverOrigin = BigInt(clock_ns);
    origin = now() - (Number.isFinite(least) ? least / 2 : 0);
    if (datagrams) talking = setInterval(talk, TICK);
    setTimeout(over, origin + plan.total_ms - now());
    postMessage({ begun: { plan, origin, without: datagrams ? null : without } });
  },
  closed(load) { postMessage({ pageClosed: load }); },
  result(result) { postMessage({ result }); },
  refused(reason) { postMessage({ failed: reason }); },
};

onmessage = ({ data }) => {
  if (data.findings) return socket.send(JSON.stringify(data.findings));
  if (data.pageOver !== undefined) return socket.send(`page over ${data.pageOver}`);
  socket = new WebSocket(data.open);
  socket.binaryType = "arraybuffer";
  socket.onmessage = ({ data }) => {
    if (typeof data !== "string") return answered(new Uint8Array(data));
    const [[kind, told]] = Object.entries(JSON.parse(data));
    Promise.resolve(heard[kind]?.(told)).catch(({ message }) => postMessage({ failed: message }));
  };
  socket.onclose = () => { clearInterval(timer); clearInterval(talking); postMessage({ closed: true }); };
};
