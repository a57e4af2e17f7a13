import { Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { RecentMap } from "../lib/recent-map.ts";
import type { Clock } from "../lib/time/clock.ts";

// Resolves a receiver's host name. `dns.lookup` is not used: it blocks a thread of libuv's small pool for as long
// as a name server stays silent, so a few names with a dead name server would hold up every other delivery (and file
// access). c-ares, behind `Resolver`, waits for any number of names at once. But c-ares queries ask the name server only,
// and an operator who allows private targets expects `localhost` and the hosts file to count: these are read first, as
// getaddrinfo does with the usual "hosts: files dns". Search domains and mDNS are not consulted; write the full name.
//
// Answers are cached for their time to live, at most 30 seconds. That is safe because the guard checks the addresses at every
// connection.

export type HostReply =
  | { readonly kind: "found"; readonly addresses: readonly string[] }
  /** The name does not exist, or has no address. */
  | { readonly kind: "not_found" }
  /** No name server gave a usable answer in time. */
  | { readonly kind: "unavailable" };

export type ResolveHost = (host: string) => Promise<HostReply>;

type RecordWithTtl = { readonly address: string; readonly ttl: number };
type Dns = {
  resolve4(host: string, options: { ttl: true }): Promise<readonly RecordWithTtl[]>;
  resolve6(host: string, options: { ttl: true }): Promise<readonly RecordWithTtl[]>;
};
type Deps = { readonly clock: Clock; readonly dns: Dns; readonly readHostsFile: () => Promise<string> };

const KEPT_SECONDS_MAX = 30;
const KEPT_NAMES = 1_000;
/** c-ares doubles the wait at the second try, so a silent name server is given up after about six seconds. */
const DNS_TRY_MS = 2_000;
const DNS_TRIES = 2;

export function createSystemResolver(clock: Clock): ResolveHost {
  return createHostResolver({
    clock,
    dns: new Resolver({ timeout: DNS_TRY_MS, tries: DNS_TRIES }),
    readHostsFile: readSystemHostsFile,
  });
}

export function createHostResolver(deps: Deps): ResolveHost {
  const kept = new RecentMap<string, { reply: HostReply; untilMs: number }>(KEPT_NAMES);
  const underWay = new Map<string, Promise<HostReply>>();

  async function resolveAndKeep(name: string): Promise<HostReply> {
    const { reply, ttlSeconds } = await resolveName(deps, name);
    if (reply.kind === "found" && ttlSeconds > 0) {
      const keptMs = Math.min(ttlSeconds, KEPT_SECONDS_MAX) * 1_000;
      kept.set(name, { reply, untilMs: deps.clock.now().getTime() + keptMs });
    }
    return reply;
  }

  return (host) => {
    const name = host.toLowerCase().replace(/\.$/, "");
    const known = kept.get(name);
    if (known !== undefined && deps.clock.now().getTime() < known.untilMs) return Promise.resolve(known.reply);
    const pending = underWay.get(name);
    if (pending !== undefined) return pending;
    const started = resolveAndKeep(name).finally(() => underWay.delete(name));
    underWay.set(name, started);
    return started;
  };
}

async function resolveName(deps: Deps, name: string): Promise<{ reply: HostReply; ttlSeconds: number }> {
  const local = findInHostsFile(await deps.readHostsFile(), name);
  if (local.length > 0) return { reply: { kind: "found", addresses: local }, ttlSeconds: KEPT_SECONDS_MAX };
  if (name === "localhost" || name.endsWith(".localhost")) {
    return { reply: { kind: "found", addresses: ["127.0.0.1", "::1"] }, ttlSeconds: KEPT_SECONDS_MAX };
  }
  const replies = await Promise.allSettled([
    deps.dns.resolve4(name, { ttl: true }),
    deps.dns.resolve6(name, { ttl: true }),
  ]);
  const records = replies.flatMap((reply) => (reply.status === "fulfilled" ? reply.value : []));
  if (records.length > 0) {
    const addresses = records.map((record) => record.address);
    return { reply: { kind: "found", addresses }, ttlSeconds: Math.min(...records.map((record) => record.ttl)) };
  }
  const isAbsent = replies.every((reply) => reply.status === "fulfilled" || ABSENT_CODES.has(reply.reason?.code));
  return { reply: { kind: isAbsent ? "not_found" : "unavailable" }, ttlSeconds: 0 };
}

/** No such name, no address of that family, not a name at all. */
const ABSENT_CODES: ReadonlySet<unknown> = new Set(["ENOTFOUND", "ENODATA", "EBADNAME"]);

/** The addresses that lines of the form `address name name … # comment` give a name, in their order. */
export function findInHostsFile(text: string, name: string): string[] {
  return text
    .split("\n")
    .map((line) => line.replace(/#.*/, "").trim().toLowerCase().split(/\s+/))
    .filter(([address = "", ...names]) => isIP(address) !== 0 && names.includes(name))
    .map(([address = ""]) => address);
}

async function readSystemHostsFile(): Promise<string> {
  const path = process.platform === "win32" ? "C:\\Windows\\System32\\drivers\\etc\\hosts" : "/etc/hosts";
  try {
    return await readFile(path, "utf8");
  } catch {
    // No readable hosts file means no entries.
    return "";
  }
}
