import { HOUR_MS } from "#contract/durations.ts";
import { ENDPOINT_ID, type EndpointId, type OrganizationId } from "#contract/ids.ts";
import type { EndpointKind, SecretOverlapHours } from "#contract/webhooks/endpoint.ts";
import type { AuditOf } from "../../audit/audit.ts";
import type { Db } from "../../db/connections/pool.ts";
import { writeAtHome } from "../../db/home.ts";
import { inTransaction } from "../../db/statements/transactions.ts";
import type { Deps } from "../../deps.ts";
import { assert } from "../../lib/assert.ts";
import { randomId } from "../../lib/secrets/random.ts";
import { countLocked } from "../../organizations/organizations.ts";
import { listWidgets } from "../../widgets/widgets.ts";
import { writeLane } from "../queue/lanes.ts";
import { cancelForbidden } from "../queue/recovery-queries.ts";
import { makeSigningSecret } from "../request/sign.ts";
import type { WebhookDeps } from "../webhook-deps.ts";
import {
  type EndpointRow,
  findEndpoint,
  findSealedHeaders,
  insertEndpoint,
  listUrls,
  lockEndpoint,
  replaceSecret,
  updateEndpoint,
} from "./queries.ts";
import {
  ENTER_HEADERS_AGAIN,
  type EndpointSettings,
  findFaults,
  keepsHeaderValues,
  toSettingColumns,
} from "./settings.ts";
import { toShortUrl } from "./to-app-endpoint.ts";
import { checkEndpointUrl } from "./url-rules.ts";

// What an organization does with its endpoints. Refusals are values; callers turn them into messages.

export type EndpointDeps = Pick<Deps, "db" | "clock" | "random" | "config"> & { readonly webhooks: WebhookDeps };

const HINT_LENGTH = 4;
/** Workers cancel anything beyond this. */
const CANCEL_BATCH = 10_000;

/** Earlier failures no longer count, and neither does an earlier success. */
const LIKE_NEW = {
  failing_since: null,
  failed_attempts: 0,
  exhausted_deliveries: 0,
  refused_deliveries: 0,
  is_answering: false,
  paused_until: null,
} as const;

export type NamedEndpoint = Pick<EndpointRow, "id" | "url" | "description">;

export type Refusal =
  | { kind: "url_refused"; reason: string }
  | { kind: "invalid"; fields: Record<string, string> }
  /** Chat cards are not signed. */
  | { kind: "no_secret" }
  | { kind: "too_many"; most: number }
  | { kind: "not_found" }
  | { kind: "disabled" }
  | { kind: "too_many_tests" };

type NewEndpoint = {
  id?: EndpointId;
  url: string;
  kind: EndpointKind;
  description: string;
  settings?: EndpointSettings;
};

/** `secret` is null for chats. `sameUrlAs`: another endpoint with this URL. */
type AddedEndpoint = { kind: "added"; id: EndpointId; secret: string | null; sameUrlAs: EndpointId | null };

export async function addEndpoint(
  deps: EndpointDeps,
  owner: OrganizationId,
  wanted: NewEndpoint,
  audit: AuditOf<NamedEndpoint>,
): Promise<AddedEndpoint | Refusal> {
  const { kind, settings = {} } = wanted;
  const faults = await checkSettings(deps.db, owner, { kind, settings });
  if (faults) return faults;
  const verdict = await checkEndpointUrl(deps.webhooks, wanted.url);
  if (verdict.kind === "refused") return { kind: "url_refused", reason: verdict.reason };

  const id = wanted.id ?? randomId<EndpointId>(deps.random, ENDPOINT_ID);
  const secret = kind === "webhook" ? makeSigningSecret(deps.random) : null;
  const sameUrlAs = await findSameUrl(deps, owner, verdict.url);
  const now = deps.clock.now();
  const most = deps.config.maxEndpoints;
  const isAdded = await inTransaction(deps.db, async (transaction) => {
    if ((await countLocked(transaction, owner, "endpoints")) >= most) return false;
    const inserted = await insertEndpoint(transaction, owner, {
      ...toStoredUrl(deps, { id, kind, url: verdict.url }),
      id,
      description: wanted.description,
      kind,
      status: "enabled",
      secret: secret === null ? Buffer.alloc(0) : deps.webhooks.secretBox.seal(id, secret),
      secret_hint: secret?.slice(-HINT_LENGTH) ?? "",
      secret_created_at: now,
      ...toSettingColumns(settings, { id, box: deps.webhooks.headerBox, before: {} }),
      created_at: now,
      updated_at: now,
    });
    await writeLane(transaction, inserted);
    await audit(transaction, inserted);
    return true;
  });
  return isAdded ? { kind: "added", id, secret, sameUrlAs } : { kind: "too_many", most };
}

export async function checkSettings(
  db: Db,
  owner: OrganizationId,
  { kind, settings }: { kind: EndpointKind; settings: EndpointSettings },
): Promise<Extract<Refusal, { kind: "invalid" }> | null> {
  const widgets = settings.widgetIds == null ? [] : await listWidgets(db, owner);
  const fields = findFaults(settings, { kind, widgets: new Set(widgets.map(({ id }) => id)) });
  return Object.keys(fields).length === 0 ? null : { kind: "invalid", fields };
}

async function findSameUrl(
  { db, webhooks }: EndpointDeps,
  owner: OrganizationId,
  url: string,
): Promise<EndpointId | null> {
  const same = (await listUrls(db, owner)).find(
    (each) => url === (each.sealed_url === null ? each.url : webhooks.urlBox.open(each.id, each.sealed_url)),
  );
  return same?.id ?? null;
}

export type EndpointEdit = {
  id: EndpointId;
  url?: string;
  description?: string;
  isEnabled?: boolean;
  settings?: EndpointSettings;
  /** Sees the locked endpoint before it changes; throwing rolls the change back. */
  check?: (before: EndpointRow) => void;
};

/**
 * A new URL and enabling both reset the endpoint's health. Waiting deliveries go to the new URL, and so do those in flight, whatever
 * the old one replies. Header values that nobody can see any more are not sent to it: whoever may edit an endpoint could otherwise read
 * them at an address of their own. When an endpoint is disabled, waiting deliveries and retries are cancelled, and missed events are
 * recorded as `canceled`.
 */
export async function editEndpoint(
  deps: EndpointDeps,
  owner: OrganizationId,
  wanted: EndpointEdit,
  audit: AuditOf<NamedEndpoint>,
): Promise<{ kind: "edited" } | Refusal> {
  const { id, description, isEnabled, settings = {} } = wanted;
  const current = await findEndpoint(deps.db, owner, id);
  if (!current) return { kind: "not_found" };
  const faults = await checkSettings(deps.db, owner, { kind: current.kind, settings });
  if (faults) return faults;
  const verdict = wanted.url === undefined ? null : await checkEndpointUrl(deps.webhooks, wanted.url);
  if (verdict?.kind === "refused") return { kind: "url_refused", reason: verdict.reason };
  const now = deps.clock.now();
  const outcome = await inTransaction(deps.db, async (transaction): Promise<{ kind: "edited" } | Refusal> => {
    const before = await lockEndpoint(transaction, owner, id);
    if (!before) return { kind: "not_found" };
    wanted.check?.(before);
    const isElsewhere = verdict !== null && verdict.url !== before.url;
    if (isElsewhere && keepsHeaderValues(settings, before.header_names))
      return { kind: "invalid", fields: { headers: ENTER_HEADERS_AGAIN } };
    const change = {
      ...(verdict
        ? {
            ...toStoredUrl(deps, { ...before, url: verdict.url }),
            receiver: before.receiver + (isElsewhere ? 1 : 0),
            ...LIKE_NEW,
          }
        : {}),
      ...(description === undefined ? {} : { description }),
      ...(isEnabled === undefined ? {} : toSwitched(isEnabled, now)),
      ...toSettingColumns(settings, {
        id,
        box: deps.webhooks.headerBox,
        before: await readHeaders(deps, transaction, { owner, id }),
      }),
      updated_at: now,
    };
    const after = await updateEndpoint(transaction, owner, { id, change });
    assert(after, "it is locked");
    await writeLane(transaction, after);
    await audit(transaction, after, before);
    return { kind: "edited" };
  });
  if (outcome.kind === "edited" && isEnabled === false) await cancelWaiting(deps, owner, { id, now });
  return outcome;
}

/** The current custom headers; none if they cannot be opened. */
async function readHeaders(
  { webhooks }: Pick<EndpointDeps, "webhooks">,
  transaction: Db,
  { owner, id }: { owner: OrganizationId; id: EndpointId },
): Promise<Record<string, string>> {
  const sealed = await findSealedHeaders(transaction, owner, id);
  const text = sealed && webhooks.headerBox.open(id, sealed);
  return text ? (JSON.parse(text) as Record<string, string>) : {};
}

function toStoredUrl(
  { webhooks }: Pick<EndpointDeps, "webhooks">,
  { id, kind, url }: { id: EndpointId; kind: EndpointKind; url: string },
): { url: string; sealed_url: Buffer | null } {
  if (kind === "webhook") return { url, sealed_url: null };
  return { url: toShortUrl(url), sealed_url: webhooks.urlBox.seal(id, url) };
}

function toSwitched(isEnabled: boolean, now: Date) {
  return isEnabled
    ? ({ status: "enabled", disabled_reason: null, disabled_at: null, ...LIKE_NEW } as const)
    : ({ status: "disabled", disabled_reason: "manual", disabled_at: now } as const);
}

/** Keeps the row, without secrets, for the delivery log. */
export async function deleteEndpoint(
  deps: Pick<Deps, "db" | "clock">,
  owner: OrganizationId,
  id: EndpointId,
  audit: AuditOf<NamedEndpoint>,
): Promise<boolean> {
  const now = deps.clock.now();
  const withoutSecrets = {
    secret: Buffer.alloc(0),
    previous_secret: null,
    previous_secret_expires_at: null,
    sealed_url: null,
    headers: null,
  };
  const isRemoved = await inTransaction(deps.db, async (transaction) => {
    const endpoint = await lockEndpoint(transaction, owner, id);
    if (!endpoint) return false;
    const change = { ...withoutSecrets, receiver: endpoint.receiver + 1, removed_at: now, updated_at: now };
    await updateEndpoint(transaction, owner, { id, change });
    await writeLane(transaction, { ...endpoint, removed_at: now });
    await audit(transaction, endpoint);
    return true;
  });
  if (isRemoved) await cancelWaiting(deps, owner, { id, now });
  return isRemoved;
}

/** Call after the change is committed: queue rows are locked before endpoints, never after. */
async function cancelWaiting(
  { db }: Pick<Deps, "db">,
  owner: OrganizationId,
  { id, now }: { id: EndpointId; now: Date },
): Promise<void> {
  await writeAtHome(db, owner, (home) => cancelForbidden(home, owner, { now, limit: CANCEL_BATCH, endpointId: id }));
}

/** The new secret is shown only once; the old one stays valid for the overlap. Without one, it stops working at once. */
export async function rotateSecret(
  deps: EndpointDeps,
  owner: OrganizationId,
  { id, overlapHours }: { id: EndpointId; overlapHours: SecretOverlapHours },
  audit: AuditOf<NamedEndpoint>,
): Promise<{ kind: "rotated"; secret: string; previousExpiresAt: Date | null } | Refusal> {
  const current = await findEndpoint(deps.db, owner, id);
  if (current && current.kind !== "webhook") return { kind: "no_secret" };
  const secret = makeSigningSecret(deps.random);
  const now = deps.clock.now();
  const previousExpiresAt = overlapHours === 0 ? null : new Date(now.getTime() + overlapHours * HOUR_MS);
  const isReplaced = await inTransaction(deps.db, async (transaction) => {
    const endpoint = await replaceSecret(transaction, owner, {
      id,
      secret: deps.webhooks.secretBox.seal(id, secret),
      hint: secret.slice(-HINT_LENGTH),
      now,
      previousExpiresAt,
    });
    if (endpoint) await audit(transaction, endpoint);
    return endpoint !== null;
  });
  return isReplaced ? { kind: "rotated", secret, previousExpiresAt } : { kind: "not_found" };
}
