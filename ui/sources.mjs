// Which files the page is made of, and their hash. crates/report has the same hash in Rust and tells with it, without
// Node, that the built page is stale.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = dirname(fileURLToPath(import.meta.url));
const roots = ["index.html", "package-lock.json", "package.json", "sources.mjs", "src", "tsconfig.json", "vite.config.ts"];

/** Paths under ui/, with "/", in the order of their UTF-8 octets. */
export function sources() {
  const all = roots.flatMap((root) => {
    if (root !== "src") return [root];
    const entries = readdirSync(join(folder, root), { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  });
  return all.map((path) => path.replaceAll("\\", "/")).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

/** FNV-1a with 64 bits over each name, a zero octet, the content and another zero octet. */
export function hash() {
  const zero = Buffer.from([0]);
  const octets = Buffer.concat(sources().flatMap((path) => [Buffer.from(path), zero, readFileSync(join(folder, path)), zero]));
  let value = 0xcbf29ce484222325n;
  for (const octet of octets) value = BigInt.asUintN(64, (value ^ BigInt(octet)) * 0x100000001b3n);
  return value.toString(16).padStart(16, "0");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(hash());
