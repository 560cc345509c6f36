// Measures web/dist: the bytes of the first load, as they are and as a host sends them with brotli or gzip, and the time to
// the first picture of the level list in headless Chromium from this machine. Exit status 1 where the load is over 4 MB.

import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { Game, browser, serve } from "./tests/page.mjs";

const DIST = fileURLToPath(new URL("dist/", import.meta.url));
const MOST = 4_000_000;

const sums = { raw: 0, brotli: 0, gzip: 0 };
const row = (name, { raw, brotli, gzip }) =>
  console.log(name.padEnd(20), ...[raw, brotli, gzip].map((bytes) => bytes.toLocaleString("en").padStart(12)));
console.log("file".padEnd(20), ..."bytes,brotli,gzip".split(",").map((word) => word.padStart(12)));
for (const name of readdirSync(DIST)) {
  const bytes = readFileSync(DIST + name);
  const brotli = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }).length;
  const sizes = { raw: bytes.length, brotli, gzip: gzipSync(bytes, { level: 9 }).length };
  for (const key in sums) sums[key] += sizes[key];
  row(name, sizes);
}
row("first load", sums);

const server = await serve();
const chromium = await browser();
const times = [];
for (let round = 0; round < 3; round++) {
  const context = await chromium.newContext({ viewport: { width: 1280, height: 720 } });
  times.push(await new Game(await context.newPage()).open(server.address));
  await context.close();
}
await chromium.close();
server.close();
console.log(`first picture after ${times.map((time) => `${(time / 1000).toFixed(1)} s`).join(", ")}`);
process.exit(sums.brotli > MOST ? 1 : 0);
