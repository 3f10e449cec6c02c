// The load: streams both ways, each over a WebSocket of its own, in a worker of their own. They are opened before the load begins: a browser
// opens one at a time to a server (RFC 6455 section 4.1), which on a full path takes seconds.
"use strict";
const now = () => performance.timeOrigin + performance.now();
const BIN = 100, SHOWN = 200, LOOK = 5;
const FIRST = 4 << 10, LONGEST = 64 << 10;
/** Octets that wait in the browser: few where the path is slow, enough where it is fast. */
const LEAST_WAITING = 32 << 10, MOST_WAITING = 4 << 20;

let run;
const down = [], up = [], failures = [];

function connect(stream, name) {
  const socket = new WebSocket(`${run.base}/v1/load/${run.run}/${stream}`);
  socket.binaryType = "arraybuffer";
  socket.onerror = () => { if (now() < run.end - 500) failures.push(`${name}: the connection failed`); };
  return socket;
}

function receive(stream) {
  const of = { stream, opened: null, bins: [] }, socket = connect(stream, `load down ${stream}`);
  down.push(of);
  socket.onopen = () => (of.opened = now() - run.origin);
  socket.onmessage = ({ data }) => {
    const bin = Math.floor((now() - run.origin) / BIN);
    while (of.bins.length <= bin) of.bins.push(0);
    of.bins[bin] += data.byteLength;
  };
}

function send(stream) {
  const of = { stream, opened: null, sent: 0, socket: connect(stream, `load up ${stream}`) };
  const chunk = crypto.getRandomValues(new Uint8Array(LONGEST));
  let size = FIRST;
  up.push(of);
  const fill = () => {
    if (of.socket.readyState !== WebSocket.OPEN || now() >= run.end) return;
    const gone = of.sent - of.socket.bufferedAmount;
    const waiting = Math.min(MOST_WAITING, Math.max(LEAST_WAITING, gone / 8));
    while (of.socket.bufferedAmount < waiting) {
      of.socket.send(chunk.subarray(0, size));
      of.sent += size;
    }
    if (size < LONGEST && size < gone / 64) size *= 2;
    setTimeout(fill, LOOK);
  };
  of.socket.onopen = () => {
    of.opened = now() - run.origin;
    setTimeout(fill, Math.max(0, run.start - now()));
  };
}

function show() {
  const received = down.reduce((sum, of) => sum + of.bins.reduce((a, b) => a + b, 0), 0);
  const sent = up.reduce((sum, of) => sum + of.sent - of.socket.bufferedAmount, 0);
  postMessage({ moved: { received, sent, at: now() } });
  if (now() < run.end) setTimeout(show, SHOWN);
}

onmessage = ({ data }) => {
  run = data;
  run.down.forEach(receive);
  run.up.forEach(send);
  setTimeout(show, Math.max(0, run.start - now()));
  // The server closes when the time is over; what is still on its way is counted.
  setTimeout(() => {
    for (const of of [...down, ...up]) if (of.opened === null) failures.push(`stream ${of.stream}: no connection`);
    postMessage({
      over: {
        down: down.filter((of) => of.opened !== null),
        up: up.filter((of) => of.opened !== null).map((of) => [of.stream, of.opened]),
        failures: [...new Set(failures)],
      },
    });
  }, Math.max(0, run.end + 1000 - now()));
};
