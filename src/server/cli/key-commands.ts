import { parseApiKeyId } from "#contract/ids.ts";
import { planIncludes } from "#contract/plans.ts";
import { makeKey } from "../api-keys/make-key.ts";
import { revokeApiKey } from "../api-keys/queries.ts";
import { parseIsoInstant } from "../lib/iso-instant.ts";
import { parseText, requireOrganization } from "./arguments.ts";
import type { Command } from "./command.ts";
import { UsageError } from "./usage-error.ts";

export const KEY_COMMANDS: readonly Command[] = [
  {
    name: "key create",
    usage: "key create --org ORG --name N [--expires-at DATE]",
    summary: "make an API key; it is shown this once",
    options: ["org", "name", "expires-at"],
    positionals: 0,
    async run({ db, args, clock, random }) {
      const organization = await requireOrganization(db, args.required("org"));
      const { id, key } = await makeKey({ db, random }, organization.id, {
        name: parseText("name", args.required("name")),
        createdBy: null,
        expiresAt: parseExpiry(args.option("expires-at"), clock.now()),
        now: clock.now(),
      });
      const hint = planIncludes(organization.plan, "readApi")
        ? ""
        : `\nThe read API answers 403 until this organization is on the Business plan: org set ${organization.id} --plan business`;
      return { text: `Made key ${id}. It is shown this once:\n${key}${hint}`, json: { id, key } };
    },
  },
  {
    name: "key revoke",
    usage: "key revoke KEYID",
    summary: "end an API key at once",
    options: [],
    positionals: 1,
    async run({ db, args, clock }) {
      const id = parseApiKeyId(args.positional[0] ?? "");
      const revokedAt = id && (await revokeApiKey(db, id, clock.now()));
      // A whole key pasted here by mistake must not end up on the screen again.
      if (!revokedAt) throw new UsageError("There is no API key with this id; ids look like key_….");
      return { text: `Revoked key ${id}.`, json: { id, revokedAt: revokedAt.toISOString() } };
    },
  },
];

function parseExpiry(text: string | null, now: Date): Date | null {
  if (text === null) return null;
  const expiresAt = parseIsoInstant(text, "up");
  if (!expiresAt || expiresAt <= now) throw new UsageError("--expires-at must be an ISO 8601 date in the future.");
  return expiresAt;
}
