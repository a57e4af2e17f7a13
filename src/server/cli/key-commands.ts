import { KEY_NAME_LENGTH_MAX } from "#contract/app/limits.ts";
import { parseApiKeyId } from "#contract/ids.ts";
import { planIncludes } from "#contract/plans.ts";
import { KEY_SCOPES, KEY_SCOPES_DEFAULT } from "#contract/scopes.ts";
import {
  type ApiKeyRow,
  checkNetworks,
  checkScopes,
  describeKey,
  listApiKeys,
  makeKey,
  parseExpiry,
  revokeApiKey,
} from "../api-keys/api-keys.ts";
import { auditByOperator } from "../audit/audit.ts";
import { acrossOrganizations, inOrganization } from "../db/transactions.ts";
import { parseText, requireOrganization, requireValue } from "./arguments.ts";
import { type Command, UsageError } from "./command.ts";

export const KEY_COMMANDS: readonly Command[] = [
  {
    name: "key list",
    usage: "key list --org ORG",
    summary: "list an organization's API keys",
    options: ["org"],
    positionals: 0,
    async run({ db, args, clock }) {
      const { id } = await requireOrganization(db, args.required("org"));
      const now = clock.now();
      const keys = (await listApiKeys(db, id)).map((row) => ({
        id: row.id,
        name: row.name,
        scopes: row.scopes,
        networks: row.networks,
        state: toState(row, now),
      }));
      const lines = keys.map((key) => `${key.id}  ${key.name} (${key.state})  ${key.scopes.join(",")}`);
      return { text: lines.join("\n") || "No API keys.", json: keys };
    },
  },
  {
    name: "key create",
    usage: `key create --org ORG --name NAME [--scopes ${KEY_SCOPES.join(",")}] [--networks CIDR,…] [--expires-at DATE]`,
    summary: `create an API key; it is shown only once. Its scopes are ${KEY_SCOPES_DEFAULT.join(",")} unless --scopes is given`,
    options: ["org", "name", "scopes", "networks", "expires-at"],
    positionals: 0,
    async run({ db, args, clock, random }) {
      const organization = await requireOrganization(db, args.required("org"));
      const now = clock.now();
      const name = parseText("name", args.required("name"), KEY_NAME_LENGTH_MAX);
      const scopes = requireValue("scopes", checkScopes(readList(args.option("scopes")) ?? KEY_SCOPES_DEFAULT));
      const networks = requireValue("networks", checkNetworks(readList(args.option("networks")) ?? []));
      const expiresAt = readExpiry(args.option("expires-at"), now);
      const { id, key } = await inOrganization(db, organization.id, async (transaction) => {
        const wanted = { name, scopes, networks, createdBy: null, expiresAt, now };
        const made = await makeKey({ db: transaction, random }, organization.id, wanted);
        const audit = auditByOperator({ random }, organization.id, now);
        await audit(transaction, { action: "api_key.created", target: made.id, ...describeKey(wanted) });
        return made;
      });
      const hint = planIncludes(organization.plan, "readApi")
        ? ""
        : `\nThe read API returns 403 until this organization is on the Business plan. To change the plan: org set ${organization.id} --plan business`;
      return { text: `Created key ${id}. Save it now; it won't be shown again:\n${key}${hint}`, json: { id, key } };
    },
  },
  {
    name: "key revoke",
    usage: "key revoke KEY_ID",
    summary: "revoke an API key immediately",
    options: [],
    positionals: 1,
    async run({ db, args, clock, random }) {
      const id = parseApiKeyId(args.positional[0] ?? "");
      const now = clock.now();
      const revoked = await acrossOrganizations(db, async (transaction) => {
        const row = id && (await revokeApiKey(transaction, id, now));
        if (row && row.revoked_at.getTime() === now.getTime()) {
          const audit = auditByOperator({ random }, row.organization_id, now);
          await audit(transaction, { action: "api_key.revoked", target: id, name: row.name });
        }
        return row;
      });
      // A whole key pasted here by mistake must not end up on the screen again.
      if (!revoked)
        throw new UsageError(
          'No API key has this ID. IDs look like key_…. Run "key list --org ORG" to see all of them.',
        );
      return { text: `Revoked key ${id}.`, json: { id, revokedAt: revoked.revoked_at.toISOString() } };
    },
  },
];

function toState({ revoked_at, expires_at }: ApiKeyRow, now: Date): "active" | "expired" | "revoked" {
  if (revoked_at !== null) return "revoked";
  return expires_at !== null && expires_at <= now ? "expired" : "active";
}

/** Null if the option was not given. */
function readList(text: string | null): string[] | null {
  return text === null ? null : text.split(",").map((part) => part.trim());
}

function readExpiry(text: string | null, now: Date): Date | null {
  if (text === null) return null;
  const expiresAt = parseExpiry(text, now);
  if (!expiresAt) throw new UsageError("--expires-at must be an ISO 8601 date in the future.");
  return expiresAt;
}
