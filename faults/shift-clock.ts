import { readFileSync } from "node:fs";

// Loaded before the service by `node --import`. It shifts the process's clock by the number of milliseconds in a file, so
// clocks can step without a setting in the service and without changing the machine's clock.

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
