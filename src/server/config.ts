import { MINUTE_MS } from "#contract/durations.ts";
import { PLANS, type Plan } from "#contract/plans.ts";
import { LOG_LEVELS, type LogLevel } from "./lib/log.ts";
import {
  choice,
  databaseAddress,
  fraction,
  headerName,
  integer,
  mailServer,
  networks,
  proxies,
  type Setting,
  secondsList,
  secretText,
  text,
  webAddress,
} from "./setting.ts";

// Every setting: its name, default, meaning and range, in one table. Settings are read here and nowhere else;
// all faults are reported in one message; the result is frozen. `.env.example` and the operating guide follow from this
// table (a test compares them).

const ROLES = ["all", "web", "worker"] as const;
export type Role = (typeof ROLES)[number];

const SIGN_UP_MODES = ["closed", "open"] as const;

export const SETTINGS = {
  port: integer({
    name: "PORT",
    fallback: "3000",
    min: 0,
    max: 65_535,
    meaning: "Port to listen on; 0 picks a free one.",
  }),
  host: text({ name: "HOST", fallback: "localhost", meaning: "Address to listen on; 0.0.0.0 for every interface." }),
  baseUrl: webAddress({
    name: "BASE_URL",
    fallback: null,
    meaning: "Public address of the service, without a trailing slash. Unset: http://localhost:PORT.",
  }),
  databaseUrl: databaseAddress({
    name: "DATABASE_URL",
    fallback: null,
    isSecret: true,
    meaning: "PostgreSQL 18 or newer. Unset: an embedded PostgreSQL under DATA_DIR.",
  }),
  databasePoolSize: integer({
    name: "DATABASE_POOL_SIZE",
    fallback: "10",
    // A worker that recounts holds one to listen and one for its lock, and needs one to count; the fourth is for the rest.
    min: 4,
    max: 200,
    meaning: "Most connections one process opens to PostgreSQL.",
  }),
  dataDir: text({
    name: "DATA_DIR",
    fallback: "./data",
    meaning: "Folder of the embedded PostgreSQL and of generated secrets.",
  }),
  role: choice({
    name: "ROLE",
    fallback: "all",
    choices: ROLES,
    meaning: "web answers requests, worker runs background tasks, all does both.",
  }),
  workerPort: integer({
    name: "WORKER_PORT",
    fallback: "0",
    min: 0,
    max: 65_535,
    meaning: "Port on which a process with ROLE=worker answers /healthz, /readyz and /metrics; 0: on none.",
  }),
  rateLimitApiPerMinute: integer({
    name: "RATE_LIMIT_API_PER_MINUTE",
    fallback: "60000",
    min: 0,
    max: 10_000_000,
    meaning: "Requests one API key may make in a minute, counted by each process; 0 switches the limit off.",
  }),
  rateLimitEventsPerMinute: integer({
    name: "RATE_LIMIT_EVENTS_PER_MINUTE",
    fallback: "3000",
    min: 0,
    max: 10_000_000,
    meaning:
      "Requests with funnel events that one address may make in a minute, counted by each process; 0 switches the limit off. Offices share addresses.",
  }),
  rateLimitConfigPerMinute: integer({
    name: "RATE_LIMIT_CONFIG_PER_MINUTE",
    fallback: "600",
    min: 0,
    max: 10_000_000,
    meaning:
      "Requests for a widget's configuration per minute from one network, counted by each process. 0 means no limit. Offices share addresses.",
  }),
  rateLimitWidgetConfigPerMinute: integer({
    name: "RATE_LIMIT_WIDGET_CONFIG_PER_MINUTE",
    fallback: "6000",
    min: 0,
    max: 10_000_000,
    meaning:
      "Requests for one widget's configuration per minute from all networks together, counted by each process. 0 means no limit.",
  }),
  rateLimitSlotsPerMinute: integer({
    name: "RATE_LIMIT_SLOTS_PER_MINUTE",
    fallback: "600",
    min: 0,
    max: 10_000_000,
    meaning:
      "Requests for free slots per minute from one network, counted by each process. 0 means no limit. Offices share addresses.",
  }),
  rateLimitWidgetSlotsPerMinute: integer({
    name: "RATE_LIMIT_WIDGET_SLOTS_PER_MINUTE",
    fallback: "6000",
    min: 0,
    max: 10_000_000,
    meaning:
      "Requests for one widget's free slots per minute from all networks together, counted by each process. 0 means no limit.",
  }),
  rateLimitBookingsPerMinute: integer({
    name: "RATE_LIMIT_BOOKINGS_PER_MINUTE",
    fallback: "20",
    min: 0,
    max: 10_000_000,
    meaning: "Bookings that one address may ask for in a minute, counted by each process; 0 switches the limit off.",
  }),
  rateLimitWidgetBookingsPerMinute: integer({
    name: "RATE_LIMIT_WIDGET_BOOKINGS_PER_MINUTE",
    fallback: "60",
    min: 0,
    max: 10_000_000,
    meaning:
      "Bookings that may be asked for through one widget in a minute, from whichever addresses, counted by each process; 0 switches the limit off.",
  }),
  trustProxy: proxies({
    name: "TRUST_PROXY",
    fallback: "0",
    meaning:
      "Proxies before the service whose X-Forwarded-For and X-Forwarded-Proto are believed: how many there are, or their addresses. 0 believes nobody.",
  }),
  countryHeader: headerName({
    name: "COUNTRY_HEADER",
    fallback: null,
    meaning:
      "Header in which a proxy before the service names the visitor's country, such as CF-IPCountry. Unset: found from the address, offline.",
  }),
  secretKey: secretText({
    name: "SECRET_KEY",
    fallback: null,
    isSecret: true,
    meaning:
      "Seals what must be read again (signing secrets, credentials of scheduling systems, two-factor secrets) and signs cookies. Required with DATABASE_URL; else unset: made once and kept in DATA_DIR.",
  }),
  signUp: choice({
    name: "SIGN_UP",
    fallback: "closed",
    choices: SIGN_UP_MODES,
    meaning:
      "open lets anybody make an account and an organization; closed leaves that to the operator and to invitations.",
  }),
  defaultPlan: choice<Plan>({
    name: "DEFAULT_PLAN",
    fallback: "free",
    choices: PLANS,
    meaning: "Plan of organizations that are made in the browser.",
  }),
  rateLimitSignInPerMinute: integer({
    name: "RATE_LIMIT_SIGN_IN_PER_MINUTE",
    fallback: "30",
    min: 0,
    max: 10_000_000,
    meaning:
      "Sign-in attempts per minute from one network, counted by each process; a third of that at one account. 0 means no limit.",
  }),
  smtpUrl: mailServer({
    name: "SMTP_URL",
    fallback: null,
    isSecret: true,
    meaning: "Mail server for invitations and password resets. Unset: their links are written to the log.",
  }),
  mailFrom: text({
    name: "MAIL_FROM",
    fallback: "Bookflow <bookflow@localhost>",
    meaning: "Sender of those mails.",
  }),
  oidcIssuer: webAddress({
    name: "OIDC_ISSUER",
    fallback: null,
    meaning:
      "OpenID Connect issuer that people may sign in with too. Its redirect address is BASE_URL/api/auth/callback/oidc.",
  }),
  oidcClientId: text({ name: "OIDC_CLIENT_ID", fallback: null, meaning: "Our id at that issuer." }),
  oidcClientSecret: text({
    name: "OIDC_CLIENT_SECRET",
    fallback: null,
    isSecret: true,
    meaning: "Our secret at that issuer.",
  }),
  webhookRetrySchedule: secondsList({
    name: "WEBHOOK_RETRY_SCHEDULE",
    fallback: "30,60,120,240,480,960,1920,3600",
    meaning: "Seconds before each retry of a delivery; as many retries as numbers.",
  }),
  webhookRetryJitter: fraction({
    name: "WEBHOOK_RETRY_JITTER",
    fallback: "0.1",
    meaning: "How much of a delay is added at random, at most, so that retries do not come all at once.",
  }),
  webhookTimeoutMs: integer({
    name: "WEBHOOK_TIMEOUT_MS",
    fallback: "15000",
    min: 100,
    max: MINUTE_MS,
    meaning: "One limit for a whole attempt: name look-up, connection, answer and its body.",
  }),
  webhookAllowCidrs: networks({
    name: "WEBHOOK_ALLOW_CIDRS",
    fallback: "",
    meaning:
      "Private networks in which webhooks and scheduling systems may be reached, plain http included. Empty: none, and https only.",
  }),
  docsUrl: webAddress({
    name: "DOCS_URL",
    fallback: null,
    meaning: "Where receivers find the documentation; part of every webhook's User-Agent. Unset: BASE_URL/docs.",
  }),
  logLevel: choice<LogLevel>({
    name: "LOG_LEVEL",
    fallback: "info",
    choices: LOG_LEVELS,
    meaning: "Least severe log line that is written.",
  }),
  shutdownGraceMs: integer({
    name: "SHUTDOWN_GRACE_MS",
    fallback: "10000",
    min: 0,
    max: 10 * MINUTE_MS,
    meaning: "How long a stopping process waits for requests in flight.",
  }),
} as const;

type ValueOf<S> = S extends Setting<infer T> ? T : never;
type Values = { [K in keyof typeof SETTINGS]: ValueOf<(typeof SETTINGS)[K]> };
/** Settings without a default that stay null where they are not set. */
type MaybeUnset =
  | "databaseUrl"
  | "countryHeader"
  | "secretKey"
  | "smtpUrl"
  | "oidcIssuer"
  | "oidcClientId"
  | "oidcClientSecret";
type Unsettable = "baseUrl" | "docsUrl" | MaybeUnset;
type Unset = { [K in MaybeUnset]: string | null };
export type Config = Readonly<Omit<Values, Unsettable> & { baseUrl: string; docsUrl: string } & Unset>;

/** Its message lists every fault, a line each. */
export class ConfigError extends Error {}

export function parseConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const values: Record<string, unknown> = {};
  const faults: string[] = [];
  for (const [key, setting] of Object.entries(SETTINGS) as [string, Setting<unknown>][]) {
    // An empty variable counts as unset: that is what `NAME=` in a .env file means to people.
    const given = environment[setting.name]?.trim() || setting.fallback;
    if (given === null) {
      values[key] = null;
      continue;
    }
    const parsed = setting.parse(given);
    if ("fault" in parsed)
      faults.push(`${setting.name} ${parsed.fault}, not ${setting.isSecret ? "[secret]" : toShown(given)}`);
    else values[key] = parsed.value;
  }
  // Made up by each process, it would leave every other process unable to read what this one sealed.
  if (values["databaseUrl"] && values["secretKey"] === null)
    faults.push("SECRET_KEY must be set where DATABASE_URL is, the same for every process");
  const oidc = ["oidcIssuer", "oidcClientId", "oidcClientSecret"].filter((key) => values[key] === null);
  if (oidc.length > 0 && oidc.length < 3)
    faults.push("OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET must be set together or not at all");
  if (faults.length > 0) throw new ConfigError(faults.join("\n"));
  // Every key of SETTINGS was parsed by its own parser just above; the compiler cannot follow the loop.
  const config = values as Omit<Values, Unsettable> & { baseUrl: string | null; docsUrl: string | null } & Unset;
  const baseUrl = config.baseUrl ?? `http://localhost:${config.port}`;
  return Object.freeze({ ...config, baseUrl, docsUrl: config.docsUrl ?? `${baseUrl}/docs` });
}

/** Reads `.env` of the working folder if there is one; variables that are set already win. */
export function readEnvironment(): Record<string, string | undefined> {
  try {
    process.loadEnvFile();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT")
      throw new ConfigError("The file .env cannot be read", { cause: error });
  }
  return process.env;
}

/** A password may stand in any address. */
function toShown(given: string): string {
  return JSON.stringify(given.replace(/\/\/[^/@]*@/, "//[secret]@"));
}
