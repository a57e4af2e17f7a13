import { readFileSync } from "node:fs";

// Loaded before the service by `node --import`: its clock is this machine's plus as many milliseconds as the file says. So clocks
// step without a setting that the service would carry, and without changing the machine's own clock.

const POLL_MS = 50;
const { CLOCK_SHIFT_FILE: file = "" } = process.env;
let shiftMs = 0;

setInterval(() => {
  shiftMs = Number(readFileSync(file, "utf8"));
}, POLL_MS).unref();

const RealDate = Date;
const now = (): number => RealDate.now() + shiftMs;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) =>
    args.length === 0 ? new target(now()) : Reflect.construct(target, args, newTarget),
  get: (target, name, receiver) => (name === "now" ? now : Reflect.get(target, name, receiver)),
});
