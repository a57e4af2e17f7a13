// Preloaded by programs that a test starts: their clock stands still at STOPPED_AT_MS, so no day ends during the test.

const stoppedAtMs = Number(process.env["STOPPED_AT_MS"]);
Date.now = () => stoppedAtMs;
globalThis.Date = new Proxy(Date, {
  construct: (target, values, self) => Reflect.construct(target, values.length === 0 ? [stoppedAtMs] : values, self),
});
