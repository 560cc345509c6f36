// The blank canvas in a real browser, by mouse: a fleet is drawn, runs, is exported, and comes back. Run by web/test.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Game, browser, serve } from "./page.mjs";

const SIZE = { viewport: { width: 1280, height: 720 } };
const CLIPBOARD = ["clipboard-read", "clipboard-write"];

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

async function canvas(hash = "#level=canvas") {
  const context = await chromium.newContext(SIZE);
  await context.grantPermissions(CLIPBOARD, { origin: new URL(server.address).origin });
  const opened = new Game(await context.newPage());
  await opened.open(server.address + hash);
  await opened.find("Place: Inference router");
  opened.done = async () => {
    assert.deepEqual(opened.errors, [], "nothing is wrong on the console");
    await context.close();
  };
  return opened;
}

/** The middle of a widget. */
const middle = ({ x, y, width, height }) => ({ x: x + width / 2, y: y + height / 2 });

/** The part of this name on the board: the inspector has buttons of such names, too. */
async function part(of, name) {
  await of.find(name);
  const on = (widget) => widget.label === name && widget.x > 250 && widget.x + widget.width < 985 && widget.y > 95;
  return middle((await of.widgets()).find(on));
}

async function drag(of, from, to) {
  await of.page.mouse.move(from.x, from.y);
  await of.frames(3);
  await of.page.mouse.down();
  await of.frames(2);
  for (let step = 1; step <= 4; step++) {
    await of.page.mouse.move(from.x + ((to.x - from.x) * step) / 4, from.y + ((to.y - from.y) * step) / 4);
    await of.frames(2);
  }
  await of.page.mouse.up();
  await of.frames(3);
}

async function place(of, piece, x, y) {
  await drag(of, middle(await of.atRest(`Place: ${piece}`)), { x, y });
}

async function link(of, from, to) {
  await drag(of, middle(await of.atRest(`Link from ${from}`)), await part(of, to));
}

/** The value that stands in the row of this name, in the panel on the left. */
async function figure(of, name) {
  const all = await of.widgets();
  const row = all.find((widget) => widget.label === name && widget.x < 250);
  const beside = all.filter((widget) => Math.abs(widget.y - row.y) < 8 && widget.x > row.x && widget.x < 250);
  return beside.map((widget) => widget.label)[0];
}

test("a fleet is drawn by mouse, runs, is taken back, exported, and comes back", async () => {
  const drawn = await canvas();
  await place(drawn, "Traffic", 330, 320);
  await place(drawn, "Inference router", 520, 320);
  await place(drawn, "Replica", 800, 220);
  await place(drawn, "Replica", 800, 420);
  await link(drawn, "Traffic", "Router");
  await link(drawn, "Router", "Replica 1");
  await link(drawn, "Router", "Replica 2");
  await drawn.find("28 credits spent, no budget");

  await drawn.click("64×");
  await drawn.click("Run");
  for (let tries = 0; ; tries++) {
    const hit = parseFloat(await figure(drawn, "KV hit rate"));
    if (hit > 50) break;
    assert.ok(tries < 300, `the hit rate is ${hit} %`);
    await drawn.page.waitForTimeout(100);
  }
  await drawn.click("Pause");

  // The last link is taken back, and made again.
  await drawn.click("Undo");
  await drawn.find("28 credits spent, no budget");
  assert.ok(!(await drawn.widgets()).some((widget) => widget.label === "Unlink Replica 2"));
  await drawn.click("Redo");

  await drawn.click("Save and share");
  await drawn.click("Copy code");
  await drawn.find("The code is in the clipboard.");
  const code = await drawn.page.evaluate(() => navigator.clipboard.readText());
  assert.match(code, /^WP1-[\w-]+$/);
  await drawn.click("Close");

  // A reload finds it as it was left.
  await drawn.page.reload();
  await drawn.page.waitForFunction(() => document.getElementById("cover").hidden, null, { timeout: 60_000 });
  await drawn.find("Replica 2");

  // Cleared, and brought back from the code by pasting it.
  await drawn.click("Clear the board");
  await drawn.find("0 credits spent, no budget");
  await drawn.click("Save and share");
  await drawn.click("Code to open");
  await drawn.page.keyboard.down("Control");
  await drawn.frames(2);
  await drawn.page.keyboard.press("KeyV");
  await drawn.frames(2);
  await drawn.page.keyboard.up("Control");
  await drawn.frames(3);
  await drawn.click("Open code");
  await drawn.find("28 credits spent, no budget");
  await drawn.find("Replica 2");
  await drawn.done();

  // A link opens it, whoever follows it.
  const other = await canvas(`#canvas=${code}`);
  await other.find("Replica 2");
  await other.find("28 credits spent, no budget");
  await other.done();
});

test("a damaged code says so, and what was drawn stays", async () => {
  const drawn = await canvas();
  await place(drawn, "Replica", 600, 300);
  await drawn.click("Save and share");
  await drawn.click("Code to open");
  await drawn.page.keyboard.type("WP1-AAAA", { delay: 60 });
  await drawn.click("Open code");
  await drawn.find(/damaged/);
  await drawn.click("Close");
  await drawn.find("10 credits spent, no budget");
  await drawn.done();
});
