const REST = 5000;
const stale = document.getElementById("stale");
let last = new Date();
async function refresh() {
  if (document.hidden) return;
  try {
    const answer = await fetch(location.href);
    if (!answer.ok) throw new Error(answer.statusText);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const open = [...document.querySelectorAll("main details")].map((details) => details.open);
    const scrolled = [...document.querySelectorAll("main .scroll")].map((box) => [box.scrollLeft, box.scrollTop]);
    const fresh = page.querySelector("main");
    if (!fresh) throw new Error("another page");
    document.querySelector("main").replaceWith(fresh);
    document.querySelectorAll("main details").forEach((details, place) => { details.open = open[place] ?? details.open; });
    document.querySelectorAll("main .scroll").forEach((box, place) => { [box.scrollLeft, box.scrollTop] = scrolled[place] ?? [0, 0]; });
    document.title = page.title;
    last = new Date();
    stale.textContent = "";
  } catch {
    stale.textContent = `The server does not send this page now. This is what was known at ${last.toLocaleTimeString()}.`;
  }
}
async function keep() {
  await refresh();
  setTimeout(keep, REST);
}
setTimeout(keep, REST);
