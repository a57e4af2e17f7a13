import { hash } from "node:crypto";
import { type Dimension, type FilterDimension, NOT_SET } from "#contract/analytics/dimensions.ts";
import type { OrganizationId } from "#contract/ids.ts";
import { RecentMap } from "../../lib/recent-map.ts";
import { toSourceKey } from "../classify/classify-source.ts";
import type { VisitFacts } from "./hit.ts";

// What visits are broken down by. Tables store a number for each text, which keeps rows small and comparisons fast. The number
// is a hash of kind and text, so every process knows it without a lookup. It has 53 bits, which a JavaScript number holds
// exactly: among an organization's hundred thousand keys, the chance that two share a number is one in two million.

/** In the order of their numbers in the column `kind`, starting at 1. */
export const KEY_KINDS = ["channel", "source", "campaign", "page", "device", "country"] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

/** Whether the texts of a dimension are stored as numbers. */
export function isKeyed(dimension: FilterDimension): dimension is KeyKind {
  return (KEY_KINDS as readonly string[]).includes(dimension);
}

/** The number, and its text for statements: formatting a 16-digit number takes longer than looking it up. */
type KeyId = { readonly id: number; readonly digits: string };

export type VisitKeys = Readonly<Record<KeyKind, KeyId>>;

/** A key that may not be stored yet. */
export type NewKey = {
  readonly organizationId: OrganizationId;
  readonly id: number;
  readonly kind: number;
  readonly key: string;
};

export function toKeyName({ organizationId, id }: Pick<NewKey, "organizationId" | "id">): string {
  return `${organizationId} ${id}`;
}

const KEYS_KEPT = 5_000;
const known: Readonly<Record<KeyKind, RecentMap<string, KeyId>>> = {
  channel: new RecentMap(KEYS_KEPT),
  source: new RecentMap(KEYS_KEPT),
  campaign: new RecentMap(KEYS_KEPT),
  page: new RecentMap(KEYS_KEPT),
  device: new RecentMap(KEYS_KEPT),
  country: new RecentMap(KEYS_KEPT),
};

export function toKindNumber(kind: KeyKind): number {
  return KEY_KINDS.indexOf(kind) + 1;
}

export function toKeyId(kind: KeyKind, key: string): number {
  return findKeyId(kind, key).id;
}

function findKeyId(kind: KeyKind, key: string): KeyId {
  const kept = known[kind].get(key);
  if (kept !== undefined) return kept;
  const digest = hash("sha256", `${kind} ${key}`, "buffer");
  const id = digest.readUInt32BE(0) * 2 ** 21 + (digest.readUInt32BE(4) >>> 11);
  const made = { id, digits: String(id) };
  known[kind].set(key, made);
  return made;
}

/** Kinds that store "" where nothing is known. */
const EMPTY_KINDS: ReadonlySet<Dimension> = new Set(["page", "device", "country"]);

export function toStoredKey(dimension: KeyKind, key: string): string {
  return key === NOT_SET && EMPTY_KINDS.has(dimension) ? "" : key;
}

/** As it is shown and sent. */
export function toShownKey(key: string): string {
  return key === "" ? NOT_SET : key;
}

/** The text under which a visit is listed. */
export function toKey(kind: KeyKind, visit: VisitFacts): string {
  return kind === "source" ? toSourceKey(visit) : visit[kind];
}

export function toVisitKeys(visit: VisitFacts): VisitKeys {
  return {
    channel: findKeyId("channel", visit.channel),
    source: findKeyId("source", toSourceKey(visit)),
    campaign: findKeyId("campaign", visit.campaign),
    page: findKeyId("page", visit.page),
    device: findKeyId("device", visit.device),
    country: findKeyId("country", visit.country),
  };
}
