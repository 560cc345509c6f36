// What the browser tests share: a static server for web/dist, a browser, and a hand for labelled widgets.

import { chromium } from "playwright-core";
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const DIST = fileURLToPath(new URL("../dist", import.meta.url));
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };
const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);

/** Serves web/dist on a free port of this machine. */
export async function serve() {
  const server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url, "http://localhost").pathname);
    try {
      const body = await readFile(join(DIST, path === "/" ? "index.html" : path));
      response.writeHead(200, { "Content-Type": TYPES[extname(path)] ?? "text/html", "Content-Length": body.length });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return { address: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

/** Opens headless Chromium; without `webgl` it has none. */
export function browser({ webgl = true, more = [] } = {}) {
  const quiet = ["--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic"];
  const drawing = webgl
    ? ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
    : ["--disable-gpu", "--disable-3d-apis"];
  return chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", ...quiet, ...drawing, ...more] });
}

/** Opens headless Chromium as a person has it: its pages are tabs of one window, and those behind the front one are hidden. */
export async function tabs() {
  // Playwright tells each page that it opens itself that it has the focus; a browser that it finds is left as it is.
  const port = await new Promise((found) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => found(port));
    });
  });
  const launched = await browser({ more: [`--remote-debugging-port=${port}`] });
  const found = await chromium.connectOverCDP(`http://127.0.0.1:${port}`, { noDefaults: true });
  const close = async () => {
    await found.close();
    await launched.close();
  };
  return { newPage: () => found.contexts()[0].newPage(), close };
}

/** A page of the game, with what it writes to the console as errors. */
export class Game {
  constructor(page) {
    this.page = page;
    this.errors = [];
    page.on("console", (message) => message.type() === "error" && this.errors.push(message.text()));
    page.on("pageerror", (error) => this.errors.push(String(error)));
  }

  /** Opens the page and waits for the program's first picture; returns how long that took in milliseconds. */
  async open(address) {
    const began = Date.now();
    await this.page.goto(address);
    await this.page.waitForFunction(() => document.getElementById("cover").hidden, null, { timeout: 60_000 });
    return Date.now() - began;
  }

  /** The labelled widgets on the screen: label, and rectangle in CSS pixels. */
  widgets() {
    return this.page.evaluate(async () => (await import("./warmpath.js")).widgets());
  }

  /** Waits until there is a widget with this label, with the role if one is named, and for which `where` holds; returns it. */
  async find(label, { role, where = () => true, timeout = 30_000 } = {}) {
    const fits = (wanted, text) => wanted === undefined || (wanted instanceof RegExp ? wanted.test(text) : text === wanted);
    const until = Date.now() + timeout;
    for (;;) {
      const all = await this.widgets();
      const found = all.find((widget) => fits(label, widget.label) && fits(role, widget.role) && where(widget));
      if (found) return found;
      if (Date.now() > until) {
        if (process.env.WARMPATH_PICTURES) await this.page.screenshot({ path: `${process.env.WARMPATH_PICTURES}/failed.png` });
        throw new Error(`no widget ${label} among ${JSON.stringify(all.map((widget) => `${widget.role} ${widget.label}`))}`);
      }
      await this.page.waitForTimeout(100);
    }
  }

  /** Waits until the program has drawn so many more frames: what was done before is then seen. */
  async frames(count) {
    await this.page.evaluate(async (count) => {
      const { frames } = await import("./warmpath.js");
      const until = frames() + count;
      while (frames() < until) await new Promise((later) => setTimeout(later, 10));
    }, count);
  }

  /** How many frames the program has drawn, and the moment of the simulation on the clock of the last, in seconds. */
  async moment() {
    const [frames, widgets] = await this.page.evaluate(async () => {
      const { frames, widgets } = await import("./warmpath.js");
      return [frames(), widgets()];
    });
    const { label } = widgets.find(({ role, label }) => role === "Label" && /^\d+:\d\d\.\d$/.test(label));
    const [minutes, seconds] = label.split(":").map(Number);
    return { frames, clock: minutes * 60 + seconds };
  }

  /** Presses the middle of a rectangle with the mouse, as a person does. */
  async press({ x, y, width, height }) {
    await this.page.mouse.move(x + width / 2, y + height / 2);
    await this.frames(2);
    // Shortly, as a person clicks: what is held for 0.8 s, egui takes for no click.
    await this.page.mouse.down();
    await this.page.waitForTimeout(60);
    await this.page.mouse.up();
    await this.frames(2);
  }

  /** Waits until a widget is there and has come to rest, and returns it. */
  async atRest(label, options) {
    for (let before = await this.find(label, options); ; ) {
      await this.frames(2);
      const now = await this.find(label, options);
      if (JSON.stringify(now) === JSON.stringify(before)) return now;
      before = now;
    }
  }

  /** Clicks a widget. */
  async click(label, options) {
    await this.press(await this.atRest(label, options));
  }

  /** Taps the middle of a rectangle with a finger. */
  async tap({ x, y, width, height }) {
    await this.page.touchscreen.tap(x + width / 2, y + height / 2);
    await this.frames(3);
  }

  /** Presses keys while Control is held, each thing once the one before was seen. */
  async control(key) {
    await this.page.keyboard.down("Control");
    await this.frames(2);
    await this.page.keyboard.press(key);
    await this.frames(2);
    await this.page.keyboard.up("Control");
    await this.frames(2);
  }
}

/** A hand on a touch screen: where each finger is, in order. */
export class Hand {
  static async on(game) {
    const hand = new Hand();
    hand.game = game;
    hand.browser = await game.page.context().newCDPSession(game.page);
    hand.fingers = 0;
    return hand;
  }

  /** The fingers are at these places now, [x, y] each; those at the end of the list that are not told of are lifted. */
  async send(...places) {
    const type = places.length === 0 ? "touchEnd" : this.fingers === 0 ? "touchStart" : "touchMove";
    this.fingers = places.length;
    const touchPoints = places.map(([x, y], id) => ({ x, y, id }));
    await this.browser.send("Input.dispatchTouchEvent", { type, touchPoints });
  }

  /** The same, and waits until it was seen. */
  async touch(...places) {
    await this.send(...places);
    await this.game.frames(2);
  }
}

/** How many different colours a picture has, looked at in a page. */
export async function colours(page, png) {
  return page.evaluate(async (data) => {
    const picture = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
    const canvas = new OffscreenCanvas(picture.width, picture.height);
    const context = canvas.getContext("2d");
    context.drawImage(picture, 0, 0);
    const pixels = new Uint32Array(context.getImageData(0, 0, picture.width, picture.height).data.buffer);
    return new Set(pixels).size;
  }, png.toString("base64"));
}
