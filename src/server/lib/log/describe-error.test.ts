import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { createTestDatabase } from "../../../../test/support/database/database.ts";
import { createLog } from "./log.ts";
import { LoggableError } from "./loggable-error.ts";

const EMAIL = "zephyrine@mail.example";

/** The `error` of a log line, whose text never contains the email address. */
function log(error: unknown): { [name: string]: unknown; stack?: string; cause?: { [name: string]: unknown } } {
  const lines: string[] = [];
  createLog("error", { write: (line) => lines.push(line) }).error("task.failed", { error });
  const [line = ""] = lines;
  assert.ok(!line.includes("zephyrine"), line);
  return JSON.parse(line).error;
}

function whatThrows(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return assert.fail("nothing was thrown");
}

/** Each says something in its message that a visitor sent. */
const QUOTING: Readonly<Record<string, () => unknown>> = {
  "the parser of JSON": () => JSON.parse(EMAIL),
  "a time zone": () => new Intl.DateTimeFormat("en", { timeZone: EMAIL }),
  "a header": () => new Headers({ [`${EMAIL} `]: "x" }),
  "an address with a query": () => new URL(`/book?email=${EMAIL}`),
  "a property": () => (undefined as unknown as Record<string, unknown>)[EMAIL],
  "a message of several lines that look like frames": () => {
    throw new Error(`body:\n    at ${EMAIL} (file:///a.ts:1:2)\n    at file:///${EMAIL}:1:2`);
  },
  "a message that was changed later": () => {
    throw Object.assign(new Error(`body:\n    at ${EMAIL} (file:///a.ts:1:2)`), { message: "changed" });
  },
  "a name, a code and a system call": () => {
    throw Object.assign(new Error(EMAIL), { name: EMAIL, code: EMAIL, syscall: EMAIL });
  },
  "a text that is no error": () => {
    throw EMAIL;
  },
  "a cause": () => {
    throw new LoggableError("It failed", { cause: new Error(EMAIL, { cause: EMAIL }) });
  },
  "one of several errors": () => {
    throw new AggregateError([new Error(EMAIL)], EMAIL);
  },
};

for (const [what, work] of Object.entries(QUOTING)) {
  test(`nothing that a visitor sent is logged of an error that quotes ${what}`, () => {
    log(whatThrows(work));
  });
}

test("the log has the frames of an error, without its message", () => {
  const { type, message, stack } = log(whatThrows(() => JSON.parse(`\n${EMAIL}`)));
  assert.deepEqual([type, message], ["SyntaxError", undefined]);
  const [first = "", second = ""] = String(stack).split("\n");
  assert.equal(first, "at JSON.parse (<anonymous>)");
  assert.match(second, /^at .*describe-error\.test\.ts:\d+:\d+$/);
});

test("the frames of an error without a message are logged", () => {
  assert.match(String(log(new TypeError()).stack), /^at .*describe-error\.test\.ts:\d+:\d+\)\n/);
});

test("our own messages are logged, with the whole chain of causes", () => {
  const { cause: _, stack: __, ...outer } = log(new LoggableError("Organizations that failed", { count: 3 }));
  assert.deepEqual(outer, { type: "LoggableError", message: "Organizations that failed: 3" });
  const causes = log(
    new LoggableError("outer", { cause: new LoggableError("middle", { cause: new RangeError(EMAIL) }) }),
  );
  const { message, cause: inner } = causes.cause ?? {};
  assert.equal(message, "middle");
  assert.equal((inner as { type: string }).type, "RangeError");
});

test("an error that is its own cause is logged", () => {
  const error = new Error();
  error.cause = error;
  assert.equal(log(error).type, "Error");
});

test("a fixed message of the database driver is logged only as a whole", () => {
  assert.equal(log(new Error("Connection terminated unexpectedly")).message, "Connection terminated unexpectedly");
  assert.equal(log(new Error(`Connection terminated unexpectedly by ${EMAIL}`)).message, undefined);
});

test("of an error of PostgreSQL, the log has our names for what it is about, and no value of a row", async () => {
  const { pool } = await createTestDatabase();
  const client = await pool.connect();
  try {
    await client.query("create temporary table guests (email text constraint guests_email unique check (email > ''))");
    await client.query("insert into guests values ($1)", [EMAIL]);
    const error = await client.query("insert into guests values ($1)", [EMAIL]).catch((thrown: unknown) => thrown);
    assert.match((error as { detail: string }).detail, /^Key \(email\)=\(zephyrine/);
    const { stack, ...facts } = log(error);
    assert.deepEqual(facts, {
      type: "DatabaseError",
      code: "23505",
      table: "guests",
      constraint: "guests_email",
      routine: "_bt_check_unique",
    });
    assert.match(String(stack), /^at parseErrorMessage /);
  } finally {
    client.release();
  }
});

test("the server that can't be reached is logged, and the address of a visitor isn't", async () => {
  const refused = await new Promise((resolve) => connect(1, "127.0.0.1").once("error", resolve));
  const { stack: _, ...facts } = log(refused);
  assert.deepEqual(facts, { type: "Error", code: "ECONNREFUSED", syscall: "connect", server: "127.0.0.1:1" });
  const unknown = await new Promise((resolve) => connect(1, "nowhere.invalid").once("error", resolve));
  assert.equal(log(unknown).server, "nowhere.invalid");
  assert.equal(log(Object.assign(new Error("read"), { syscall: "read", address: "203.0.113.7" })).server, undefined);
});
