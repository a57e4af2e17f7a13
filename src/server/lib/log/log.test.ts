import assert from "node:assert/strict";
import { test } from "node:test";
import { createLog, toReadableLine } from "./log.ts";
import { LoggableError } from "./loggable-error.ts";

/** What the log writes about one thing, as a person reads it; without the time, which depends on the machine's zone. */
function read(write: (log: ReturnType<typeof createLog>) => void): string {
  const lines: string[] = [];
  write(createLog("debug", { write: (line) => lines.push(toReadableLine(line)) }));
  assert.match(lines[0] ?? "", /^\d\d:\d\d:\d\d /);
  return lines.join("").slice("14:05:09 ".length);
}

test("a line says when, how severe, what, and its fields", () => {
  assert.equal(
    read((log) => log.info("service.started", { role: "all" })),
    "info  service.started role=all\n",
  );
  assert.equal(
    read((log) => log.warn("mail.not_sent", { mail: "endpoint notice" })),
    'warn  mail.not_sent mail="endpoint notice"\n',
  );
});

test("an error comes with its frames and its cause", () => {
  const error = new LoggableError("outer", { count: 2, cause: new TypeError("inner") });
  const text = read((log) => log.error("task.failed", { task: "sweep", error }));
  assert.match(text, /^error task\.failed task=sweep\n {4}LoggableError: outer: 2\n {8}at /);
  assert.match(text, /\n {4}caused by:\n {4}TypeError\n {8}at /);
});

test("nothing that is logged controls the terminal", () => {
  assert.equal(
    read((log) => log.info("x", { outcome: "\u001b[2Jgone" })),
    "info  x outcome=gone\n",
  );
});
