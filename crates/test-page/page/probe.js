// The run's conversation, and its round trips: in a worker, so that nothing which the page draws makes them longer.
"use strict";
const now = () => performance.timeOrigin + performance.now();
const AWAITED = 2000;

let socket, plan, timer;
let origin = null, serverOrigin = 0n, least = Infinity, next = 0;
const asked = new Map();
const samples = [];

function ask() {
  const probe = new DataView(new ArrayBuffer(16));
  probe.setUint32(0, next, true);
  const sent = now();
  asked.set(next++, sent);
  socket.send(probe.buffer);
}

function answered(data) {
  const back = now(), reply = new DataView(data);
  const number = reply.getUint32(0, true), sent = asked.get(number);
  if (sent === undefined) return;
  asked.delete(number);
  least = Math.min(least, back - sent);
  if (origin === null || sent < origin) return;
  const far = Number(reply.getBigUint64(data.byteLength - 8, true) - serverOrigin) / 1e6;
  samples.push([sent - origin, back - sent, far]);
  postMessage({ sample: [sent - origin, back - sent] });
}

function over() {
  clearInterval(timer);
  const last = origin + plan.total_ms;
  setTimeout(() => {
    for (const sent of asked.values()) if (sent >= origin && sent < last) samples.push([sent - origin, null, null]);
    samples.sort((a, b) => a[0] - b[0]);
    postMessage({ over: samples.filter(([sent]) => sent < plan.total_ms) });
  }, AWAITED);
}

const heard = {
  plan(told) {
    plan = told;
    timer = setInterval(ask, plan.gap_ms);
    // The first round trips tell how far away the server's clock is.
    setTimeout(() => socket.send("begin"), 10 * plan.gap_ms);
  },
  begun({ clock_ns }) {
    serverOrigin = BigInt(clock_ns);
    origin = now() - (Number.isFinite(least) ? least / 2 : 0);
    setTimeout(over, origin + plan.total_ms - now());
    postMessage({ begun: { plan, origin } });
  },
  result(result) { postMessage({ result }); },
  refused(reason) { postMessage({ failed: reason }); },
};

onmessage = ({ data }) => {
  if (data.findings) return socket.send(JSON.stringify(data.findings));
  socket = new WebSocket(data.open);
  socket.binaryType = "arraybuffer";
  socket.onmessage = ({ data }) => {
    if (typeof data !== "string") return answered(data);
    const [[kind, told]] = Object.entries(JSON.parse(data));
    heard[kind]?.(told);
  };
  socket.onclose = () => { clearInterval(timer); postMessage({ closed: true }); };
};
