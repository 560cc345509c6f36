// The page in a real browser, as a person uses it. Needs web/dist (web/build) and the program itself for what the desktop
// gets (cargo build --release). Run by web/test.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { after, afterEach, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Game, Hand, browser, colours, serve, tabs } from "./page.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PROGRAM = process.env.WARMPATH ?? `${ROOT}target/release/warmpath`;
const PICTURES = process.env.WARMPATH_PICTURES;
const FIRST = "More replicas, slower answers";
const SECOND = "One replica owns the hot prefix";
const LEVELS = ["more-replicas-slower-answers", "one-replica-owns-the-hot-prefix"];
const PLACED = readdirSync(`${ROOT}levels`)
  .map((file) => file.replace(/\.ron$/, ""))
  .filter((level) => !LEVELS.includes(level));
const TRACE = `${ROOT}tests/traces/small.jsonl`;
const LARGE = { viewport: { width: 1280, height: 720 } };
const TABLET = { viewport: { width: 1180, height: 820 }, hasTouch: true };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };

let server;
let chromium;
let phone;
before(async () => {
  server = await serve();
  chromium = await browser();
  // The scale of a phone's screen is emulated for all of the page but its ResizeObservers: the browser itself must have it.
  phone = await browser({ more: [`--force-device-scale-factor=${PHONE.deviceScaleFactor}`] });
});
// A page that a failed test leaves behind would go on drawing, and slow down those that follow.
afterEach(() => Promise.all([chromium, phone].flatMap((open) => open.contexts().map((context) => context.close()))));
after(async () => {
  await chromium?.close();
  await phone?.close();
  server?.close();
});

/** A game in a browser of its own: nothing is remembered from other tests. */
async function game(options = LARGE, hash = "") {
  const context = await (options.isMobile ? phone : chromium).newContext(options);
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

test("fingers drag, pinch and tap the canvas", async () => {
  const held = await game(TABLET, `#level=${LEVELS[0]}`);
  const middle = ({ x, y, width, height }) => [x + width / 2, y + height / 2];
  // Not the tabs of the inspector, which have the same names.
  const part = (name) => held.atRest(name, { role: "Button", where: ({ x }) => x < 800 });
  const router = () => part("Router");
  const hand = await Hand.on(held);

  // Two fingers go apart about the router: it is larger, and where it was.
  const before = await router();
  const [x, y] = middle(before);
  await hand.send([x - 20, y]);
  for (const far of [20, 40, 60, 80]) await hand.touch([x - far, y], [x + far, y]);
  await hand.touch([x - 80, y]);
  await hand.touch();
  const larger = await router();
  assert.ok(larger.width > 2.5 * before.width, `${before.width} wide, then ${larger.width}`);
  const [nowX, nowY] = middle(larger);
  assert.ok(Math.hypot(nowX - x, nowY - y) < 12, `from ${[x, y]} to ${[nowX, nowY]}`);
  await picture(held, "pinched");

  // One finger drags it along, if it moves at once: one that rests asks what it rests on.
  await hand.send([nowX, nowY]);
  await hand.touch([nowX + 10, nowY]);
  const [fromX, fromY] = middle(await router());
  for (const part of [0.25, 0.5, 0.75, 1]) await hand.touch([nowX + 10 + 60 * part, nowY + 20 * part]);
  await hand.touch();
  const [thenX, thenY] = middle(await router());
  assert.ok(Math.hypot(thenX - fromX - 60, thenY - fromY - 20) < 4, `from ${[fromX, fromY]} to ${[thenX, thenY]}`);

  // Together again: all of the fleet. A tap on a part shows its settings.
  await hand.send([thenX - 90, thenY]);
  for (const far of [90, 60, 40, 20, 15]) await hand.touch([thenX - far, thenY], [thenX + far, thenY]);
  await hand.touch();
  await held.tap(await part("Coding agents"));
  await held.find(/^Sessions: /);
  await held.done();
});

test("a tab that is left and come back to goes on where it was", async () => {
  const window = await tabs();
  try {
    const left = new Game(await window.newPage());
    await left.open(`${server.address}#level=${LEVELS[0]}`);
    const other = await window.newPage();
    await left.page.bringToFront();
    await left.find("Verdict");
    await left.frames(10);
    const before = await left.moment();
    await other.bringToFront();
    assert.equal(await left.page.evaluate(() => document.visibilityState), "hidden");
    const away = await left.moment();
    await new Promise((later) => setTimeout(later, 10_000));
    const there = await left.moment();
    assert.ok(there.frames - away.frames <= 1, `${there.frames - away.frames} frames were drawn while nobody looked`);
    await left.page.bringToFront();
    await left.frames(1);
    const after = await left.moment();
    // A frame takes at most 0.25 s for its own, which are two at this speed; that of the return takes none. The clock shows tenths.
    const [frames, clock] = [after.frames - before.frames, after.clock - before.clock];
    assert.ok(clock <= (frames - 1) * 2 + 0.15, `${clock} s in ${frames} frames`);
    await left.frames(10);
    assert.ok((await left.moment()).clock > after.clock, "it goes on");
    assert.deepEqual(left.errors, []);
  } finally {
    await window.close();
  }
});

test("text is copied and pasted between fields and the clipboard", async () => {
  const typed = await game(LARGE, `#level=${LEVELS[0]}`);
  await typed.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const clipboard = () => typed.page.evaluate(() => navigator.clipboard.readText());
  const field = async (label, text) => {
    await typed.click(label, { role: "SpinButton" });
    if (text !== undefined) await typed.page.keyboard.type(text, { delay: 50 });
    await typed.frames(2);
  };
  const value = async (label) => (await typed.atRest(label, { role: "SpinButton" })).value;
  const [from, to] = ["Spill when queue reaches", "Replicas"];

  await field(from, "12");
  await typed.control("a");
  await typed.control("c");
  assert.equal(await clipboard(), "12");
  await typed.page.keyboard.press("Enter");
  await field(to);
  await typed.control("v");
  await typed.page.keyboard.press("Enter");
  await typed.frames(2);
  assert.deepEqual([await value(from), await value(to)], [12, 12]);

  // From elsewhere, and cut.
  await typed.page.evaluate(() => navigator.clipboard.writeText("9"));
  await field(to);
  await typed.control("v");
  await typed.control("a");
  await typed.control("x");
  await typed.control("v");
  await typed.page.keyboard.press("Enter");
  await typed.frames(2);
  assert.equal(await value(to), 9);

  // Where a page may not write to the clipboard by itself, as in a frame on another site.
  await typed.page.evaluate(() => {
    Clipboard.prototype.writeText = () => Promise.reject(new DOMException("not allowed", "NotAllowedError"));
  });
  await field(from, "21");
  await typed.control("a");
  await typed.control("c");
  assert.equal(await clipboard(), "21");
  await typed.done();
});

test("on a phone a tap on a number brings the keyboard, and what it writes is the number", async () => {
  const userAgent = "Mozilla/5.0 (Linux; Android 14; Phone) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0 Mobile Safari/537.36";
  const held = await game({ ...PHONE, userAgent }, `#level=${LEVELS[0]}`);
  const keyboard = () => held.page.evaluate(() => document.activeElement.id);
  const label = "Spill when queue reaches";
  assert.equal(await keyboard(), "warmpath");
  await held.tap(await held.atRest("Settings", { role: "Button" }));
  await held.tap(await held.atRest(label, { role: "SpinButton" }));
  assert.equal(await keyboard(), "egui_text_agent");
  // As an on-screen keyboard does: text without keys, and keys that write nothing.
  await held.page.keyboard.insertText("1");
  await held.page.keyboard.insertText("65");
  await held.frames(2);
  await held.page.keyboard.press("Backspace");
  await held.frames(2);
  await picture(held, "phone-typing");
  await held.page.keyboard.press("Enter");
  await held.frames(2);
  assert.equal((await held.atRest(label, { role: "SpinButton" })).value, 16);

  // With a mouse and a keyboard at the same phone.
  await held.click(label, { role: "SpinButton" });
  assert.equal(await keyboard(), "warmpath");
  await held.page.keyboard.type("125", { delay: 50 });
  await held.page.keyboard.press("Backspace");
  await held.frames(2);
  await held.page.keyboard.press("Enter");
  await held.frames(2);
  assert.equal((await held.atRest(label, { role: "SpinButton" })).value, 12);
  await held.done();
});

test("a long run leaves the page alive and says how far it is", async () => {
  const opened = await game();
  const level = readFileSync(`${ROOT}levels/${LEVELS[0]}.ron`, "utf8").replace(/\bseconds: *[0-9.]+/, "seconds: 30000");
  const long = await opened.page.evaluate(async (level) => {
    const { run, runWithProgress } = await import("./warmpath.js");
    let pictures = 0;
    let over = false;
    const longest = { gap: 0, last: performance.now() };
    const draw = (now) => {
      pictures += 1;
      longest.gap = Math.max(longest.gap, now - longest.last);
      longest.last = now;
      if (!over) requestAnimationFrame(draw);
    };
    requestAnimationFrame(draw);
    const shares = [];
    const began = performance.now();
    const report = await runWithProgress(level, {}, 3, (share) => shares.push(share));
    const took = performance.now() - began;
    over = true;
    return { report, shares, pictures, took, gap: longest.gap, whole: run(level, {}, 3) };
  }, level);
  assert.deepEqual(long.report, long.whole, "the slices change nothing");
  const { shares } = long;
  assert.ok(shares.length > 20 && shares.every((share, place) => share >= (shares[place - 1] ?? 0)), `${shares.length} shares`);
  assert.ok(shares[0] < 0.2 && shares.at(-1) === 1, `from ${shares[0]} to ${shares.at(-1)}`);
  assert.ok(long.took > 300, `${long.took} ms are no long run`);
  assert.ok(long.pictures > 4 && long.gap < 1_000, `${long.pictures} pictures in ${long.took} ms, ${long.gap} ms without one`);

  const replayed = await opened.page.evaluate(async (trace) => {
    const { replay, replayWithProgress } = await import("./warmpath.js");
    const shares = [];
    const report = await replayWithProgress(trace, { "router.spill": 2 }, undefined, (share) => shares.push(share));
    return { report, shares, whole: replay(trace, { "router.spill": 2 }) };
  }, readFileSync(TRACE, "utf8"));
  assert.deepEqual(replayed.report, replayed.whole);
  assert.equal(replayed.shares.at(-1), 1);

  // Bad input is said as by `run`; what the page throws ends the run.
  const rejected = (level, settings, stop) =>
    opened.page.evaluate(
      async ([level, settings, stop]) => {
        const { runWithProgress } = await import("./warmpath.js");
        let calls = 0;
        const stopping = () => {
          calls += 1;
          throw new Error("enough");
        };
        return runWithProgress(level, settings, undefined, stop ? stopping : undefined).then(
          () => "done",
          (error) => `${error.message} after ${calls}`,
        );
      },
      [level, settings, stop],
    );
  assert.equal(await rejected("nope", {}, false), `${complaint("run", "nope")} after 0`);
  assert.equal(await rejected(level, {}, true), "enough after 1");
  assert.equal(await rejected(LEVELS[0], {}, false), "done");
  await opened.done();
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
  // Those in which parts are placed: as they are given, and as they are solved.
  for (const level of PLACED) {
    assert.deepEqual(await run(level), desktop("run", level));
    const code = execFileSync(PROGRAM, ["code", level, "--solved"], { encoding: "utf8" }).trim();
    const report = await run(code);
    assert.equal(report.passed, true, level);
    assert.deepEqual(report, desktop("run", code));
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
