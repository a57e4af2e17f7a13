import { LOG_LEVELS, type LogLevel } from "./lib/log.ts";

// Every setting: its name, default, meaning and range, in one table. The environment is read here and nowhere else;
// all faults are reported in one message; the result is frozen. `.env.example` and the operating guide follow from this
// table (a test compares them).

export const ROLES = ["all", "web", "worker"] as const;
export type Role = (typeof ROLES)[number];

type Setting<T> = {
  readonly name: string;
  readonly meaning: string;
  /** As it would be written in the environment; null means unset. */
  readonly fallback: string | null;
  readonly range: string;
  readonly isSecret?: true;
  /** Returns a fault as a string that continues "NAME …". */
  readonly parse: (text: string) => { value: T } | { fault: string };
};

const MINUTE_MS = 60_000;

export const SETTINGS = {
  port: integer({
    name: "PORT",
    fallback: "3000",
    min: 0,
    max: 65_535,
    meaning: "Port to listen on; 0 picks a free one.",
  }),
  host: text({ name: "HOST", fallback: "localhost", meaning: "Address to listen on; 0.0.0.0 for every interface." }),
  baseUrl: url({
    name: "BASE_URL",
    fallback: null,
    protocols: ["http:", "https:"],
    meaning: "Public address of the service, without a trailing slash. Unset: http://localhost:PORT.",
  }),
  databaseUrl: url({
    name: "DATABASE_URL",
    fallback: null,
    protocols: ["postgres:", "postgresql:"],
    isSecret: true,
    meaning: "PostgreSQL 18 or newer. Unset: an embedded PostgreSQL under DATA_DIR.",
  }),
  databasePoolSize: integer({
    name: "DATABASE_POOL_SIZE",
    fallback: "10",
    min: 2,
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
  rateLimitApiPerMinute: integer({
    name: "RATE_LIMIT_API_PER_MINUTE",
    fallback: "60000",
    min: 0,
    max: 10_000_000,
    meaning: "Requests one API key may make in a minute, counted by each process; 0 switches the limit off.",
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
type Unsettable = "baseUrl" | "databaseUrl";
export type Config = Readonly<Omit<Values, Unsettable> & { baseUrl: string; databaseUrl: string | null }>;

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
      faults.push(`${setting.name} ${parsed.fault}, not ${setting.isSecret ? "[secret]" : JSON.stringify(given)}`);
    else values[key] = parsed.value;
  }
  if (faults.length > 0) throw new ConfigError(faults.join("\n"));
  // Every key of SETTINGS was parsed by its own parser just above; the compiler cannot follow the loop.
  const config = values as Values & { baseUrl: string | null; databaseUrl: string | null };
  return Object.freeze({ ...config, baseUrl: config.baseUrl ?? `http://localhost:${config.port}` });
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

type About = { name: string; fallback: string | null; meaning: string; isSecret?: true };

function integer(about: About & { min: number; max: number }): Setting<number> {
  const range = `${about.min} to ${about.max}`;
  return {
    ...about,
    range,
    parse: (text) => {
      const value = Number(text);
      const isValid = /^[0-9]{1,15}$/.test(text) && value >= about.min && value <= about.max;
      return isValid ? { value } : { fault: `must be a whole number from ${range}` };
    },
  };
}

function text(about: About): Setting<string> {
  return { ...about, range: "any text", parse: (value) => ({ value }) };
}

function choice<T extends string>(about: About & { choices: readonly T[] }): Setting<T> {
  return {
    ...about,
    range: about.choices.join(", "),
    parse: (text) => {
      const value = about.choices.find((candidate) => candidate === text);
      return value === undefined ? { fault: `must be one of ${about.choices.join(", ")}` } : { value };
    },
  };
}

function url(about: About & { protocols: readonly string[] }): Setting<string> {
  const range = about.protocols.map((protocol) => `${protocol}//…`).join(" or ");
  return {
    ...about,
    range,
    parse: (text) =>
      URL.canParse(text) && about.protocols.includes(new URL(text).protocol)
        ? { value: text.replace(/\/+$/, "") }
        : { fault: `must be an address like ${range}` },
  };
}
