import { MINUTE_MS, SECOND_MS } from "#contract/durations.ts";
import { RETRY_DELAYS_SECONDS_DEFAULT, WEBHOOK_TIMEOUT_SECONDS_DEFAULT } from "#contract/limits.ts";
import { PLANS, type Plan } from "#contract/plans.ts";
import { LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from "./lib/log/log.ts";
import {
  cap,
  choice,
  databaseAddress,
  exportTarget,
  fraction,
  headerName,
  integer,
  mailServer,
  nat64Prefixes,
  networks,
  perMinute,
  proxies,
  type Setting,
  secondsList,
  secretText,
  text,
  toShown,
  webAddress,
} from "./setting.ts";

// Every setting with its name, default, meaning and range. Settings are read only here, all faults are reported in one
// message, and the result is frozen. `.env.example` and the operating guide are generated from this table.

const ROLES = ["all", "web", "worker"] as const;
export type Role = (typeof ROLES)[number];
const SIGN_UP_MODES = ["closed", "open"] as const;
const YES_OR_NO = ["no", "yes"] as const;

export const SETTINGS = {
  port: integer({
    name: "PORT",
    fallback: "3000",
    min: 0,
    max: 65_535,
    meaning: "Port to listen on. 0 picks a free one.",
  }),
  host: text({ name: "HOST", fallback: "localhost", meaning: "Address to listen on. Use 0.0.0.0 for all interfaces." }),
  baseUrl: webAddress({
    name: "BASE_URL",
    fallback: null,
    meaning: "Public address of Bookflow, without a trailing slash. Defaults to http://localhost:PORT.",
  }),
  databaseUrl: databaseAddress({
    name: "DATABASE_URL",
    fallback: null,
    isSecret: true,
    meaning:
      "URL of a PostgreSQL server, version 18 or newer. If unset, Bookflow runs its own PostgreSQL in DATA_DIR. For a Citus cluster, this is the coordinator.",
  }),
  databasePoolSize: integer({
    name: "DATABASE_POOL_SIZE",
    fallback: "10",
    // A worker needs one connection to listen, one for deliveries, one to pack visits, and one for the rest.
    min: 4,
    max: 200,
    meaning: "Maximum number of PostgreSQL connections per process.",
  }),
  dataDir: text({
    name: "DATA_DIR",
    fallback: "./data",
    meaning: "Folder for the embedded PostgreSQL and generated secrets.",
  }),
  role: choice({
    name: "ROLE",
    fallback: "all",
    choices: ROLES,
    meaning: "web handles requests, worker runs background tasks, all does both.",
  }),
  workerPort: integer({
    name: "WORKER_PORT",
    fallback: "0",
    min: 0,
    max: 65_535,
    meaning: "Port on which a process with ROLE=worker serves /healthz, /readyz and /metrics. 0 means none.",
  }),
  rateLimitApiPerMinute: perMinute({
    name: "RATE_LIMIT_API_PER_MINUTE",
    fallback: "60000",
    meaning: "Requests per minute for one API key, counted by each process. 0 means no limit.",
  }),
  rateLimitEventsPerMinute: perMinute({
    name: "RATE_LIMIT_EVENTS_PER_MINUTE",
    fallback: "3000",
    meaning:
      "Requests with funnel events per minute from one network, counted by each process. Visitors in one office often share an address, so don't set this too low. 0 means no limit.",
  }),
  rateLimitConfigPerMinute: perMinute({
    name: "RATE_LIMIT_CONFIG_PER_MINUTE",
    fallback: "600",
    meaning:
      "Requests for a widget's configuration per minute from one network, counted by each process. Visitors in one office often share an address, so don't set this too low. 0 means no limit.",
  }),
  rateLimitWidgetConfigPerMinute: perMinute({
    name: "RATE_LIMIT_WIDGET_CONFIG_PER_MINUTE",
    fallback: "6000",
    meaning:
      "Requests for one widget's configuration per minute from all networks together, counted by each process. Half is kept for networks that have used little of it. 0 means no limit.",
  }),
  rateLimitSlotsPerMinute: perMinute({
    name: "RATE_LIMIT_SLOTS_PER_MINUTE",
    fallback: "600",
    meaning:
      "Requests for available times per minute from one network, counted by each process. Visitors in one office often share an address, so don't set this too low. 0 means no limit.",
  }),
  rateLimitWidgetSlotsPerMinute: perMinute({
    name: "RATE_LIMIT_WIDGET_SLOTS_PER_MINUTE",
    fallback: "6000",
    meaning:
      "Requests for one widget's available times per minute from all networks together, counted by each process. Half is kept for networks that have used little of it. 0 means no limit.",
  }),
  rateLimitSchedulerPerMinute: perMinute({
    name: "RATE_LIMIT_SCHEDULER_PER_MINUTE",
    fallback: "20",
    meaning:
      "Requests for available times per minute from one network that Bookflow passes on to a scheduling system because it has no recent response, counted by each process. 0 means no limit.",
  }),
  rateLimitBookingsPerMinute: perMinute({
    name: "RATE_LIMIT_BOOKINGS_PER_MINUTE",
    fallback: "20",
    meaning: "Booking requests per minute from one network, counted by each process. 0 means no limit.",
  }),
  rateLimitWidgetBookingsPerMinute: perMinute({
    name: "RATE_LIMIT_WIDGET_BOOKINGS_PER_MINUTE",
    fallback: "60",
    meaning:
      "Booking requests per minute through one widget from all networks together, counted by each process, without those that are refused for what they contain. Half is kept for networks that have used little of it. 0 means no limit.",
  }),
  trustProxy: proxies({
    name: "TRUST_PROXY",
    fallback: "0",
    meaning:
      "Proxies in front of Bookflow whose X-Forwarded-For and X-Forwarded-Proto are trusted: their number or their addresses. 0 trusts none.",
  }),
  countryHeader: headerName({
    name: "COUNTRY_HEADER",
    fallback: null,
    meaning:
      "Header in which a proxy sends the visitor's country, such as CF-IPCountry. If unset, the country is looked up offline from the IP address.",
  }),
  secretKey: secretText({
    name: "SECRET_KEY",
    fallback: null,
    isSecret: true,
    meaning:
      "Encrypts signing secrets, chat URLs, credentials for scheduling systems and two-factor secrets, and signs cookies. Required with DATABASE_URL. Otherwise it is generated once and kept in DATA_DIR.",
  }),
  signUp: choice({
    name: "SIGN_UP",
    fallback: "closed",
    choices: SIGN_UP_MODES,
    meaning:
      "open lets anyone with an email address create an account and an organization; a link is sent to the address first. closed requires an invitation or the operator.",
  }),
  defaultPlan: choice<Plan>({
    name: "DEFAULT_PLAN",
    fallback: "business",
    choices: PLANS,
    meaning: "Plan of organizations created in the browser. The first owner can choose another during setup.",
  }),
  maxOrganizationsPerPerson: cap({
    name: "MAX_ORGANIZATIONS_PER_PERSON",
    fallback: "20",
    meaning:
      "Maximum number of organizations that one person can own, if they create them in the browser. Those they deleted in the last 24 hours count too.",
  }),
  maxWidgets: cap({
    name: "MAX_WIDGETS",
    fallback: "200",
    meaning: "Maximum number of widgets per organization, if they are created in the dashboard.",
  }),
  maxApiKeys: cap({
    name: "MAX_API_KEYS",
    fallback: "50",
    meaning: "Maximum number of API keys per organization that aren't revoked, if they are created in the dashboard.",
  }),
  maxConnections: cap({
    name: "MAX_CONNECTIONS",
    fallback: "50",
    meaning: "Maximum number of connections to scheduling systems per organization.",
  }),
  maxEndpoints: cap({
    name: "MAX_ENDPOINTS",
    fallback: "20",
    meaning: "Maximum number of webhook endpoints per organization.",
  }),
  maxInvitationsPerDay: cap({
    name: "MAX_INVITATIONS_PER_DAY",
    fallback: "100",
    meaning: "Maximum number of invitations that one organization can create in 24 hours.",
  }),
  rateLimitSignInPerMinute: perMinute({
    name: "RATE_LIMIT_SIGN_IN_PER_MINUTE",
    fallback: "30",
    meaning:
      "Sign-in attempts per minute from one network, counted by each process, and a third of that for one account. As many requests for shared reports. 0 means no limit.",
  }),
  smtpUrl: mailServer({
    name: "SMTP_URL",
    fallback: null,
    isSecret: true,
    meaning:
      "Mail server for invitations, password resets, sign-up, notices and reports. If unset, links to reset a password or sign up are written to the log.",
  }),
  mailFrom: text({
    name: "MAIL_FROM",
    fallback: "Bookflow <bookflow@localhost>",
    meaning: "Sender of emails.",
  }),
  oidcIssuer: webAddress({
    name: "OIDC_ISSUER",
    fallback: null,
    meaning: "OpenID Connect issuer for single sign-on. Register BASE_URL/api/auth/callback/oidc as the redirect URI.",
  }),
  oidcClientId: text({ name: "OIDC_CLIENT_ID", fallback: null, meaning: "Client ID registered with that issuer." }),
  oidcClientSecret: text({
    name: "OIDC_CLIENT_SECRET",
    fallback: null,
    isSecret: true,
    meaning: "Client secret registered with that issuer.",
  }),
  oidcTrusted: choice({
    name: "OIDC_TRUSTED",
    fallback: "no",
    choices: YES_OR_NO,
    meaning:
      "yes lets that issuer sign people in to existing accounts by their verified email address. Use it only if nobody can verify someone else's address there. With no, people first connect single sign-on in their profile.",
  }),
  oidcTwoFactor: choice({
    name: "OIDC_TWO_FACTOR",
    fallback: "ask",
    choices: ["ask", "skip"] as const,
    meaning:
      "ask requires a code after single sign-on too, from people with two-factor authentication. skip leaves the second factor to that issuer.",
  }),
  webhookRetrySchedule: secondsList({
    name: "WEBHOOK_RETRY_SCHEDULE",
    fallback: RETRY_DELAYS_SECONDS_DEFAULT.join(","),
    meaning: "Delay in seconds before each retry of a delivery. The number of values is the number of retries.",
  }),
  webhookRetryJitter: fraction({
    name: "WEBHOOK_RETRY_JITTER",
    fallback: "0.1",
    meaning:
      "Maximum random addition to a retry delay, as a fraction of the delay, so that retries don't all come at once.",
  }),
  webhookTimeoutMs: integer({
    name: "WEBHOOK_TIMEOUT_MS",
    fallback: String(WEBHOOK_TIMEOUT_SECONDS_DEFAULT * SECOND_MS),
    min: 100,
    max: MINUTE_MS,
    meaning: "Time limit for a whole attempt: DNS lookup, connection, response and its body.",
  }),
  webhookAllowCidrs: networks({
    name: "WEBHOOK_ALLOW_CIDRS",
    fallback: "",
    meaning:
      "Private networks in which webhooks and scheduling systems are allowed, including plain http. If empty, only public addresses over https are allowed.",
  }),
  nat64Prefixes: nat64Prefixes({
    name: "NAT64_PREFIXES",
    fallback: "64:ff9b::/96",
    meaning:
      "Prefixes under which the network translates IPv6 to IPv4 (NAT64). Addresses with such a prefix are checked by the IPv4 address they contain. `dig AAAA ipv4only.arpa` shows the prefix.",
  }),
  docsUrl: webAddress({
    name: "DOCS_URL",
    fallback: null,
    meaning: "Address of the documentation in the User-Agent of webhooks. Defaults to BASE_URL/docs.",
  }),
  exportTo: exportTarget({
    name: "EXPORT_TO",
    fallback: null,
    meaning: "Folder or bucket to which finished days are exported every night. If unset, nothing is exported.",
  }),
  logLevel: choice<LogLevel>({
    name: "LOG_LEVEL",
    fallback: "info",
    choices: LOG_LEVELS,
    meaning: "Minimum severity of log lines.",
  }),
  logFormat: choice<LogFormat>({
    name: "LOG_FORMAT",
    fallback: "auto",
    choices: LOG_FORMATS,
    meaning:
      "How log lines look: `json`, one object per line; `text`, for people; `auto`, text in a terminal and JSON elsewhere.",
  }),
  shutdownGraceMs: integer({
    name: "SHUTDOWN_GRACE_MS",
    fallback: "10000",
    min: 0,
    max: 10 * MINUTE_MS,
    meaning: "How long a stopping process waits for requests in progress.",
  }),
} as const;

type Values = { [K in keyof typeof SETTINGS]: (typeof SETTINGS)[K] extends Setting<infer T> ? T : never };
/** Settings without a default, which are null if unset. */
// biome-ignore format: a list of names
type MaybeUnset =
  "databaseUrl" | "countryHeader" | "secretKey" | "smtpUrl" | "oidcIssuer" | "oidcClientId" | "oidcClientSecret" | "exportTo";
type Known = Omit<Values, MaybeUnset | "baseUrl" | "docsUrl"> & Record<MaybeUnset, string | null>;
export type Config = Readonly<Known & { baseUrl: string; docsUrl: string }>;

/** The message lists every fault, one per line, under a heading. */
export class ConfigError extends Error {}

export function parseConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const values: Record<string, unknown> = {};
  const faults: string[] = [];
  for (const [key, setting] of Object.entries(SETTINGS) as [string, Setting<unknown>][]) {
    // An empty variable counts as unset, because that is what people mean by `NAME=` in a .env file.
    const given = environment[setting.name]?.trim() || setting.fallback;
    if (given === null) {
      values[key] = null;
      continue;
    }
    const parsed = setting.parse(given);
    if ("fault" in parsed)
      faults.push(`${setting.name} ${parsed.fault}${setting.isSecret ? "" : `, not ${toShown(given)}`}`);
    else values[key] = parsed.value;
  }
  // If each process generated its own key, none could read what another one encrypted.
  if (values["databaseUrl"] && values["secretKey"] === null)
    faults.push("SECRET_KEY must be set when DATABASE_URL is set, and must be the same for every process");
  const oidc = ["oidcIssuer", "oidcClientId", "oidcClientSecret"].filter((key) => values[key] === null);
  if (oidc.length > 0 && oidc.length < 3)
    faults.push("OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET must be set together or not at all");
  if (faults.length > 0) throw new ConfigError(`Bookflow can't start. Fix these settings:\n${faults.join("\n")}`);
  // Every key of SETTINGS was parsed by its own parser just above; the compiler cannot follow the loop.
  const config = values as Known & { baseUrl: string | null; docsUrl: string | null };
  const baseUrl = config.baseUrl ?? `http://localhost:${config.port}`;
  return Object.freeze({ ...config, baseUrl, docsUrl: config.docsUrl ?? `${baseUrl}/docs` });
}

/** Reads `.env` in the working folder if there is one. Variables that are already set take precedence. */
export function readEnvironment(): Record<string, string | undefined> {
  try {
    process.loadEnvFile();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT")
      throw new ConfigError("The file .env can't be read", { cause: error });
  }
  return process.env;
}
