// The page in a real browser, as a person uses it. Needs web/dist (web/build) and the program itself for what the desktop
// gets (cargo build --release). Run by web/test.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Game, browser, colours, serve } from "./page.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PROGRAM = process.env.WARMPATH ?? `${ROOT}target/release/warmpath`;
const PICTURES = process.env.WARMPATH_PICTURES;
const FIRST = "More replicas, slower answers";
const SECOND = "One replica owns the hot prefix";
const LEVELS = ["more-replicas-slower-answers", "one-replica-owns-the-hot-prefix"];
const TRACE = `${ROOT}tests/traces/small.jsonl`;
const LARGE = { viewport: { width: 1280, height: 720 } };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };

let server;
let chromium;
before(async () => {
  server = await serve();
  chromium = await browser();
});
after(async () => {
  await chromium?.close();
  server?.close();
});

/** A game in a browser of its own: nothing is remembered from other tests. */
async function game(options = LARGE, hash = "") {
  const context = await chromium.newContext(options);
  const opened = new Game(await context.newPage());
  opened.took = await opened.open(server.address + hash);
  opened.done = async () => {
    assert.deepEqual(opened.errors, [], "nothing is wrong on the console");
    await context.close();
  };
  return opened;
}

/** What the desktop's program prints. */
function desktop(...words) {
  const told = { encoding: "utf8", maxBuffer: 1 << 26 };
  try {
    return JSON.parse(execFileSync(PROGRAM, [...words, "--json"], told));
  } catch (error) {
    // Goals that are not met are an exit status of their own; the report is there all the same.
    if (error.status !== 1) throw error;
    return JSON.parse(error.stdout);
  }
}

/** The line that the desktop's program says of wrong input. */
function complaint(...words) {
  try {
    execFileSync(PROGRAM, words, { encoding: "utf8", stdio: "pipe" });
  } catch (error) {
    assert.equal(error.status, 2);
    return error.stderr.trim().replace(/^warmpath: /, "");
  }
  throw new Error(`${words} is not wrong`);
}

async function picture(of, name) {
  const png = await of.page.screenshot();
  if (PICTURES) {
    mkdirSync(PICTURES, { recursive: true });
    writeFileSync(`${PICTURES}/${name}.png`, png);
  }
  const found = await colours(of.page, png);
  assert.ok(found > 60, `${name} has ${found} colours`);
}

/** Drags the slider of a setting to its right end, as a person does. */
async function dragToTheEnd(of, setting) {
  const { x, y, width, height } = await of.atRest(setting, { role: "Slider" });
  const middle = y + height / 2;
  await of.page.mouse.move(x + 8, middle);
  await of.frames(2);
  await of.page.mouse.down();
  for (let step = 1; step <= 4; step++) {
    await of.page.mouse.move(x + 8 + ((width + 4) * step) / 4, middle);
    await of.frames(2);
  }
  await of.page.mouse.up();
  await of.frames(2);
}

test("the list of levels is there within 20 s, after a real progress bar", async () => {
  const context = await chromium.newContext(LARGE);
  const opened = new Game(await context.newPage());
  await opened.page.addInitScript(() => {
    globalThis.seen = [];
    addEventListener("DOMContentLoaded", () => {
      const bar = document.getElementById("bar");
      new MutationObserver(() => globalThis.seen.push(bar.value)).observe(document.getElementById("note"), { childList: true });
    });
  });
  const took = await opened.open(server.address);
  assert.ok(took < 20_000, `${took} ms`);
  const seen = await opened.page.evaluate(() => globalThis.seen);
  assert.ok(seen.some((value) => value > 0 && value < 1) && Math.max(...seen) === 1, `the bar went ${seen.slice(0, 5)}…`);
  await opened.find(FIRST);
  await opened.find(SECOND);
  await picture(opened, "levels");
  assert.deepEqual(opened.errors, []);
  await context.close();
});

test("the first problem is won by hand, and a reload keeps the win", async () => {
  const played = await game();
  await played.click(FIRST);
  await played.find("Verdict");
  await picture(played, "play");
  await played.click("Verdict");
  await played.find("Not yet");
  await played.click("Try again");
  await dragToTheEnd(played, "Session affinity");
  await played.click("Verdict");
  await played.find("Won");
  await picture(played, "won");
  await played.page.reload();
  await played.page.waitForFunction(() => document.getElementById("cover").hidden, null, { timeout: 60_000 });
  await played.find(`${FIRST}, won`);
  await picture(played, "levels-won");
  await played.done();
});

test("the second problem is won by typing a number", async () => {
  const played = await game();
  await played.click(SECOND);
  // A click opens the field with all of it selected: what is typed takes its place.
  await played.click("Spill when queue reaches", { role: "SpinButton" });
  await played.page.keyboard.type("16");
  await played.frames(2);
  await played.page.keyboard.press("Enter");
  await played.frames(2);
  await played.click("Verdict");
  await played.find("Won", { timeout: 60_000 });
  await played.done();
});

test("a link opens a level with settings", async () => {
  const opened = await game(LARGE, `#level=${LEVELS[0]}&router.affinity=1`);
  await opened.click("Verdict");
  await opened.find("Won");
  await opened.done();
});

test("a bad link says so and opens the list", async () => {
  for (const [hash, says] of [
    ["#level=nowhere", /nowhere/],
    [`#level=${LEVELS[0]}&traffic.shared=1`, /locked/],
    [`#level=${LEVELS[0]}&router.affinity=7`, /from 0 to 1/],
  ]) {
    const opened = await game(LARGE, hash);
    await opened.find(says);
    await opened.find(FIRST);
    await opened.done();
  }
});

test("an unreadable save is kept aside and named", async () => {
  const context = await chromium.newContext(LARGE);
  const opened = new Game(await context.newPage());
  await opened.page.addInitScript(() => {
    if (!localStorage.getItem("warmpath.progress.unreadable-1")) localStorage.setItem("warmpath.progress", "{not a save");
  });
  await opened.open(server.address);
  await opened.find(/warmpath\.progress\.unreadable-1/);
  const kept = await opened.page.evaluate(() => localStorage.getItem("warmpath.progress.unreadable-1"));
  assert.equal(kept, "{not a save");
  await context.close();
});

test("without WebGL2 or WebAssembly the page says what is missing", async () => {
  const without = await browser({ webgl: false });
  try {
    const page = await without.newPage(LARGE);
    await page.addInitScript(() => {
      // Some builds of Chromium draw WebGL in software whatever they are told.
      const get = HTMLCanvasElement.prototype.getContext;
      HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
        return kind === "webgl2" ? null : get.call(this, kind, ...rest);
      };
    });
    await page.goto(server.address);
    await page.getByText("This browser has no WebGL2").waitFor();
    const other = await without.newPage(LARGE);
    await other.addInitScript(() => delete globalThis.WebAssembly);
    await other.goto(server.address);
    await other.getByText("This browser has no WebAssembly").waitFor();
  } finally {
    await without.close();
  }
});

test("a program that cannot be fetched is told in words", async () => {
  const page = await chromium.newPage(LARGE);
  await page.route("**/*.wasm", (route) => route.fulfill({ status: 503, body: "" }));
  await page.goto(server.address);
  await page.getByText("Warmpath could not be loaded").waitFor();
  await page.close();
});

test("on a phone a tap opens a level, and the canvas follows the window", async () => {
  const held = await game(PHONE);
  await picture(held, "phone-levels");
  const { x, y, width, height } = await held.find(FIRST);
  await held.page.touchscreen.tap(x + width / 2, y + height / 2);
  await held.find("Verdict");
  await held.page.waitForTimeout(2_000);
  await picture(held, "phone-play");
  await held.page.setViewportSize({ width: 844, height: 390 });
  await held.page.waitForTimeout(1_000);
  const size = await held.page.evaluate(() => {
    const { width, height } = document.getElementById("warmpath").getBoundingClientRect();
    return [width, height];
  });
  assert.deepEqual(size, [844, 390]);
  await picture(held, "phone-turned");
  await held.done();
});

test("the browser's reports equal the desktop's, digest included", async () => {
  const opened = await game();
  const run = (level, settings, seed) =>
    opened.page.evaluate(
      async ([level, settings, seed]) => (await import("./warmpath.js")).run(level, settings, seed ?? undefined),
      [level, settings, seed],
    );
  for (const level of LEVELS) {
    assert.deepEqual(await run(level), desktop("run", level));
    const changed = { "router.affinity": 0.7, "router.spill": 5, replicas: 7 };
    const words = Object.entries(changed).flatMap(([key, value]) => ["--set", `${key}=${value}`]);
    assert.deepEqual(await run(level, changed, 42), desktop("run", level, "--seed", "42", ...words));
  }
  const text = readFileSync(`${ROOT}levels/${LEVELS[1]}.ron`, "utf8");
  assert.deepEqual(await run(text), desktop("run", LEVELS[1]));
  const replayed = await opened.page.evaluate(
    async (trace) => (await import("./warmpath.js")).replay(trace, { "router.spill": 2, "router.policy": "sticky-spill" }),
    readFileSync(TRACE, "utf8"),
  );
  const replay = desktop("replay", TRACE, "--set", "router.spill=2", "--set", "router.policy=sticky-spill");
  assert.deepEqual({ ...replayed, level: "" }, { ...replay, level: "" });
  await opened.done();
});

test("bad input to the API throws the line that the command line says", async () => {
  const opened = await game();
  const thrown = (...words) =>
    opened.page.evaluate(async (words) => {
      try {
        (await import("./warmpath.js")).run(...words);
      } catch (error) {
        return error.message;
      }
    }, words);
  assert.equal(await thrown("nope"), complaint("run", "nope"));
  for (const bad of ["router.affinity=2", "router.nothing=1", "replica[9].slots=1", "router.slots=x"]) {
    const [key, value] = bad.split("=");
    assert.equal(await thrown(LEVELS[0], { [key]: value }), complaint("run", LEVELS[0], "--set", bad));
  }
  assert.match(await thrown(LEVELS[0], {}, -1), /^seed: expected a whole number/);
  assert.match(await thrown(LEVELS[0], 7), /^settings: expected an object/);
  assert.match(await thrown("(id: 1)"), /^level:1:5: Expected string, found/);
  await opened.done();
});
