import { isIP } from "node:net";
import { parseExportTarget } from "./lib/text/export-target.ts";
import { listHostUrls } from "./lib/text/host-urls.ts";

// The kinds of settings: how each is parsed, and how its range is described.

export type Setting<T> = {
  readonly name: string;
  readonly meaning: string;
  /** As it would be written in the environment; null means unset. */
  readonly fallback: string | null;
  readonly range: string;
  readonly isSecret?: true;
  /** Returns a fault as a string that continues "NAME …". */
  readonly parse: (text: string) => { value: T } | { fault: string };
};

const SECRET_LENGTH_MIN = 32;
const LONGEST_DELAY_SECONDS = 7 * 24 * 3600;

type Described = { name: string; fallback: string | null; meaning: string; isSecret?: true };

export function integer(described: Described & { min: number; max: number }): Setting<number> {
  const range = `${described.min} to ${described.max}`;
  return {
    ...described,
    range,
    parse: (text) => {
      const value = Number(text);
      const isValid = /^[0-9]{1,15}$/.test(text) && value >= described.min && value <= described.max;
      return isValid ? { value } : { fault: `must be a whole number from ${range}` };
    },
  };
}

/** A rate limit; 0 means none. */
export function perMinute(described: Described): Setting<number> {
  return integer({ ...described, min: 0, max: 10_000_000 });
}

/** How many of something there can be. */
export function cap(described: Described): Setting<number> {
  return integer({ ...described, min: 1, max: 1_000_000 });
}

export function text(described: Described): Setting<string> {
  return { ...described, range: "any text", parse: (value) => ({ value }) };
}

/** A folder or a bucket. */
export function exportTarget(described: Described): Setting<string> {
  const range = "a folder, or s3://BUCKET/PREFIX";
  return {
    ...described,
    range,
    parse: (value) => (parseExportTarget(value) ? { value } : { fault: `must be ${range}` }),
  };
}

export function choice<T extends string>(described: Described & { choices: readonly T[] }): Setting<T> {
  return {
    ...described,
    range: described.choices.join(", "),
    parse: (text) => {
      const value = described.choices.find((candidate) => candidate === text);
      return value === undefined ? { fault: `must be one of ${described.choices.join(", ")}` } : { value };
    },
  };
}

/** Normalised like in a browser, because it is used in pages and links. Anything beyond a base address is refused. */
export function webAddress(described: Described): Setting<string> {
  const range = "http://… or https://…, without user name, query or fragment";
  return {
    ...described,
    range,
    parse: (text) => {
      const url = URL.parse(text);
      const isBase = url && /^https?:$/.test(url.protocol) && !/[?#]/.test(text) && url.username + url.password === "";
      return isBase ? { value: url.href.replace(/\/+$/, "") } : { fault: `must be an address like ${range}` };
    },
  };
}

export function databaseAddress(described: Described): Setting<string> {
  const range = "postgres://… or postgresql://…";
  return {
    ...described,
    range,
    parse: (text) =>
      // For a Unix socket, the host is in the query, and the part after the @ may be empty, which URL does not accept.
      listHostUrls(text).every(
        (url) => /^postgres(ql)?:\/\//.test(url) && URL.canParse(url.replace("@/", "@localhost/")),
      )
        ? { value: text }
        : { fault: `must be an address like ${range}` },
  };
}

export function mailServer(described: Described): Setting<string> {
  const range = "smtp://… or smtps://…";
  return {
    ...described,
    range,
    parse: (text) =>
      /^smtps?:\/\/[^/]/.test(text) && URL.canParse(text)
        ? { value: text }
        : { fault: `must be an address like ${range}` },
  };
}

/** See http/limits/client-network.ts; false for none. */
export function proxies(described: Described): Setting<false | number | string[]> {
  const range = "a number of proxies from 0 to 100, or addresses like 10.0.0.0/8,fd00::/8";
  return {
    ...described,
    range,
    parse: (text) => {
      if (/^[0-9]{1,2}$|^100$/.test(text)) return { value: Number(text) || false };
      const addresses = text.split(",").map((address) => address.trim());
      return addresses.every(isNetwork) ? { value: addresses } : { fault: `must be ${range}` };
    },
  };
}

export function secretText(described: Described): Setting<string> {
  const range = `at least ${SECRET_LENGTH_MIN} characters`;
  return {
    ...described,
    range,
    parse: (value) => (value.length >= SECRET_LENGTH_MIN ? { value } : { fault: `must have ${range}` }),
  };
}

export function secondsList(described: Described): Setting<readonly number[]> {
  const range = `1 to 20 whole numbers from 0 to ${LONGEST_DELAY_SECONDS}, separated by commas`;
  return {
    ...described,
    range,
    parse: (text) => {
      const parts = text.split(",").map((part) => part.trim());
      const isValid =
        parts.length <= 20 && parts.every((part) => /^[0-9]{1,6}$/.test(part) && Number(part) <= LONGEST_DELAY_SECONDS);
      return isValid ? { value: parts.map(Number) } : { fault: `must be ${range}` };
    },
  };
}

export function fraction(described: Described): Setting<number> {
  return {
    ...described,
    range: "0 to 1",
    parse: (text) =>
      /^(0|1|0?\.[0-9]{1,9}|1\.0+|0\.[0-9]{1,9})$/.test(text)
        ? { value: Number(text) }
        : { fault: "must be from 0 to 1" },
  };
}

function splitList(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

export function networks(described: Described): Setting<readonly string[]> {
  const range = "addresses like 10.0.0.0/8,fd00::/8";
  return {
    ...described,
    range,
    parse: (text) => {
      const parts = splitList(text);
      return parts.every(isNetwork) ? { value: parts } : { fault: `must be ${range}` };
    },
  };
}

/** The lengths are those of RFC 6052. */
export function nat64Prefixes(described: Described): Setting<readonly string[]> {
  const range = "IPv6 prefixes of 32, 40, 48, 56, 64 or 96 bits, like 64:ff9b::/96";
  return {
    ...described,
    range,
    parse: (text) => {
      const parts = splitList(text);
      const isPrefix = (part: string) => part.includes(":") && isNetwork(part) && /\/(?:32|40|48|56|64|96)$/.test(part);
      return parts.every(isPrefix) ? { value: parts } : { fault: `must be ${range}` };
    },
  };
}

function isNetwork(text: string): boolean {
  const [address = "", length, ...rest] = text.split("/");
  const bits = isIP(address) === 4 ? 32 : 128;
  const hasLength = length === undefined || (/^[0-9]{1,3}$/.test(length) && Number(length) <= bits);
  return isIP(address) !== 0 && hasLength && rest.length === 0;
}

/** As Node lists headers: in lower case. */
export function headerName(described: Described): Setting<string> {
  const range = "the name of a header";
  return {
    ...described,
    range,
    parse: (text) =>
      /^[A-Za-z0-9-]{1,100}$/.test(text) ? { value: text.toLowerCase() } : { fault: `must be ${range}` },
  };
}

/** Any address may contain a password. */
export function toShown(given: string): string {
  return JSON.stringify(given.replace(/\/\/[^/@]*@/, "//[secret]@"));
}
