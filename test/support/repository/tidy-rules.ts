// Rules for the code that neither the compiler nor the linter checks, as data. test/tidy.test.ts applies them; ARCHITECTURE.md
// has the reasons. A path ending in "/" stands for everything in that folder.

/** Every slice may import these. */
const FLOOR = ["src/contract/", "src/server/lib/", "src/server/db/", "src/server/http/", "src/server/deps.ts"];

const SLICES = "src/server/";
/** A slice sees of another only the file with its name, which says what the slice is for. */
const slice = (name: string, others: readonly string[] = []) => ({
  from: `${SLICES}${name}/`,
  to: [...FLOOR, ...others.map((other) => SLICES + (other.endsWith(".ts") ? other : `${other}/${other}.ts`))],
});

/**
 * Who may import whom inside src/. Files in one folder may always import each other; anything not listed is forbidden. contract
 * <- lib <- db, http <- slices <- app, worker, cli <- main.
 */
export const ALLOWED_IMPORTS: readonly { readonly from: string; readonly to: readonly string[] }[] = [
  { from: "src/contract/", to: [] },
  { from: "src/dashboard/", to: ["src/contract/"] },
  { from: "src/widget/", to: ["src/contract/"] },
  { from: "src/docs/", to: ["src/contract/"] },

  { from: "src/server/lib/", to: ["src/contract/"] },
  { from: "src/server/setting.ts", to: ["src/server/lib/text/"] },
  { from: "src/server/config.ts", to: ["src/contract/", "src/server/setting.ts", "src/server/lib/log/log.ts"] },
  { from: "src/server/secret-key.ts", to: ["src/server/config.ts", "src/server/lib/"] },
  { from: "src/server/db/", to: ["src/contract/", "src/server/lib/", "src/server/config.ts"] },
  { from: "src/server/deps.ts", to: ["src/server/config.ts", "src/server/db/", "src/server/lib/"] },
  {
    from: "src/server/http/",
    to: ["src/contract/", "src/server/lib/", "src/server/deps.ts", "src/server/db/connections/database-unavailable.ts"],
  },

  slice("docs"),
  slice("audit"),
  slice("mail", ["config.ts"]),
  slice("organizations"),
  slice("accounts", ["audit", "config.ts", "mail", "organizations"]),
  slice("sending"),
  slice("scheduler", ["accounts", "audit", "organizations", "sending"]),
  slice("api-keys", ["accounts", "audit", "organizations"]),
  slice("widgets", ["accounts", "api-keys", "audit", "organizations", "scheduler"]),
  slice("analytics", ["accounts", "api-keys", "audit", "config.ts", "organizations", "widgets"]),
  slice("webhooks", ["accounts", "api-keys", "audit", "config.ts", "mail", "organizations", "sending", "widgets"]),
  slice("bookings", [
    "accounts",
    "analytics",
    "api-keys",
    "audit",
    "organizations",
    "scheduler",
    "webhooks",
    "widgets",
  ]),
  slice("test-mode", ["accounts", "analytics", "audit", "bookings", "scheduler", "widgets"]),
  slice("demo", [
    "accounts",
    "analytics",
    "api-keys",
    "audit",
    "bookings",
    "config.ts",
    "organizations",
    "scheduler",
    "secret-key.ts",
    "test-mode",
    "widgets",
  ]),
  slice("operations", ["analytics", "bookings", "mail", "organizations", "scheduler", "webhooks"]),
  slice("export", ["analytics", "bookings", "organizations"]),
  slice("cli", [
    "accounts",
    "analytics",
    "api-keys",
    "audit",
    "bookings",
    "config.ts",
    "create-deps.ts",
    "demo",
    "export",
    "management-routes.ts",
    "operations",
    "organizations",
    "scheduler",
    "test-mode",
    "webhooks",
    "widgets",
  ]),
  slice("dashboard", ["accounts", "analytics", "bookings", "organizations", "scheduler", "test-mode"]),
  slice("embed", ["widgets"]),
  slice("mcp", ["analytics", "api-keys", "bookings", "webhooks", "widgets"]),
  slice("reports", ["accounts", "analytics", "mail", "organizations", "test-mode", "webhooks"]),

  { from: "src/server/create-deps.ts", to: ["src/server/"] },
  { from: "src/server/app.ts", to: ["src/contract/", "src/server/"] },
  { from: "src/server/app-api.ts", to: ["src/contract/", "src/server/"] },
  { from: "src/server/management-api.ts", to: ["src/contract/", "src/server/"] },
  { from: "src/server/management-routes.ts", to: ["src/server/"] },
  { from: "src/server/worker.ts", to: ["src/contract/", "src/server/"] },
  { from: "src/server/main.ts", to: ["src/contract/", "src/server/"] },
];

/** Files that only these may import, whatever else is allowed. */
export const RESERVED_FILES: readonly { readonly file: RegExp; readonly importers: readonly string[] }[] = [
  {
    file: /^src\/server\/.*routes\.ts$/,
    importers: [
      "src/server/app.ts",
      "src/server/app-api.ts",
      "src/server/management-api.ts",
      "src/server/management-routes.ts",
      "src/server/cli/call-route.ts",
      "src/server/operations/worker-app.ts",
      "src/server/analytics/analytics.ts",
    ],
  },
];

/** Packages that only these may import; every other package may be imported anywhere. */
export const RESERVED_PACKAGES: readonly { readonly package: RegExp; readonly importers: readonly string[] }[] = [
  {
    package: /^pg$/,
    importers: [
      "src/server/db/",
      "src/server/lib/log/log.ts",
      // Only for the code of a DatabaseError.
      "src/server/analytics/record/hit-writer.ts",
      "src/server/scheduler/sandbox/queries.ts",
      "src/server/webhooks/queue/report-writer.ts",
    ],
  },
  {
    package: /^undici$/,
    importers: [
      "src/server/sending/connection-pool.ts",
      "src/server/sending/exchange.ts",
      "src/server/sending/guarded-connector.ts",
    ],
  },
  { package: /^(?!typebox(\/|$))/, importers: ["src/server/", "src/dashboard/", "src/docs/", "src/widget/"] },
  { package: /^(node:test|node:assert.*|fast-check)$/, importers: [] },
];

const LIB = "src/server/lib/";
const EMBEDDED = "src/server/db/embedded/";
/** Code for readers of the API reference, which runs on their machines. */
const CODE_SAMPLES = "src/server/http/docs/code-samples.ts";
const FRAME = "src/widget/frame/environment.ts";

/** Texts that no file in src/ may contain except these. Comments are ignored, except for the last. */
export const BANNED_TEXTS: readonly {
  readonly pattern: RegExp;
  readonly allowedIn: readonly string[];
  readonly instead: string;
}[] = [
  {
    pattern: /\bDate\.now\b/,
    allowedIn: [LIB, EMBEDDED, FRAME],
    instead: "take the time from deps.clock",
  },
  {
    pattern: /\bnew Date\(\s*\)/,
    allowedIn: [LIB, EMBEDDED, "src/widget/loader/start.ts"],
    instead: "take the time from deps.clock",
  },
  { pattern: /\bMath\.random\b/, allowedIn: [], instead: "take randomness from deps.random" },
  {
    pattern: /\b(randomBytes|randomUUID|randomInt|randomFill|randomFillSync|getRandomValues)\b/,
    allowedIn: [LIB, EMBEDDED, FRAME, "src/dashboard/hooks/use-idempotency-key.ts"],
    instead: "take randomness from deps.random",
  },
  {
    pattern: /\b(setTimeout|setInterval|setImmediate)\b/,
    allowedIn: [
      LIB,
      EMBEDDED,
      "src/server/db/open-database.ts",
      "src/server/db/connections/pool.ts",
      "src/server/scheduler/",
      "src/server/sending/",
      "src/dashboard/",
      "src/docs/",
      "src/widget/",
    ],
    instead: "wait with lib/concurrency/pause.ts",
  },
  {
    pattern: /(?<![.\w])fetch\(/,
    allowedIn: ["src/dashboard/", "src/docs/", "src/widget/", CODE_SAMPLES],
    instead: "send through guarded-send.ts",
  },
  {
    pattern: /\bprocess\.env\b/,
    allowedIn: ["src/server/config.ts", EMBEDDED, "src/server/lib/concurrency/stop-signal.ts", CODE_SAMPLES],
    instead: "add a setting to config.ts",
  },
  {
    pattern: /(?<![.\w])(now|random|clock_timestamp|statement_timestamp|gen_random_uuid|uuidv[47])\(\)(?!:)/i,
    // The doctor compares the clocks.
    allowedIn: [LIB, "src/server/operations/doctor-queries.ts"],
    instead: "hand time, ids and randomness to the statement as parameters",
  },
  {
    pattern: /\bcurrent_(timestamp|date|time)\b/i,
    allowedIn: ["src/server/db/migrate.ts"],
    instead: "hand the time to the statement as a parameter",
  },
  {
    // A record set names its columns right after.
    pattern: /\bselect \*(?! from jsonb?_to_recordset\b)|\.selectAll\(|\breturning \*|\.returningAll\(/i,
    allowedIn: [],
    instead: "list the columns",
  },
  {
    pattern: /\.(?:transaction|startTransaction)\(\)/,
    allowedIn: [
      "src/server/db/statements/transactions.ts",
      // These keep the organization in place themselves, not from the start or not by a block.
      "src/server/bookings/import/import-bookings.ts",
      "src/server/analytics/record/record.ts",
    ],
    instead: "use inTransaction, inHome or inSnapshot",
  },
];

export const BANNED_MARKS = /\b(TODO|FIXME|XXX|HACK)\b/;

/** Words that say nothing about a file's content. */
export const BANNED_FILE_WORDS = /(?<![a-z])(utils?|helpers?|common|misc|managers?|data|infos?)(?![a-z])/;

/** What no test may contain, except these files: it would depend on how fast the machine is. */
export const BANNED_IN_TESTS: typeof BANNED_TEXTS = [
  {
    pattern: /\bawait (?:new Promise\b.*?\bsetTimeout|(?:\w+\.)?(?:setTimeout|waitForTimeout|sleep|pause))\(/,
    allowedIn: [
      "test/support/until.ts",
      // Nothing tells when node:test stops to wait for more tests.
      "test/late-tests.test.ts",
      // Receivers and senders that take their time.
      "src/server/webhooks/delivery/several-servers.test.ts",
      "src/server/webhooks/queue/crash.test.ts",
      "test/flows/sdk-sync-killed.test.ts",
      "test/support/funnel/event-sender.ts",
    ],
    instead: "wait until something is true (test/support/until.ts)",
  },
  {
    pattern: /\btimeout: \d[\d_]*/,
    allowedIn: ["src/server/sending/resolve-host.test.ts"],
    instead: "the limit of a file is enough (scripts/test.ts)",
  },
];

/** Files of one folder, tests not counted. Migrations are one series. */
export const FOLDER_FILES_MAX = 20;
export const ANY_SIZE_FOLDERS = ["migrations"];
export const LINES_MAX = 350;
export const FUNCTION_LINES_MAX = 60;

/** Files with longer functions, and their maximum: the loader, where functions inside one function make the smallest file. */
export const LONG_FUNCTIONS: readonly { readonly file: string; readonly linesMax: number }[] = [
  { file: "src/widget/loader/booking-frame.ts", linesMax: 84 },
  { file: "src/widget/loader/start.ts", linesMax: 70 },
];

/** Where processes and pages start. Every other file must be reachable from one of these. */
export const ENTRY_POINTS: readonly string[] = [
  "src/server/main.ts",
  "src/server/cli/main.ts",
  "src/server/db/embedded/supervisor.ts",
  "src/dashboard/main.tsx",
  "src/widget/loader/main.ts",
  "src/widget/frame/main.tsx",
  "src/docs/guides/main.ts",
  "src/docs/reference/main.ts",
];
