import { parseApiKeyId } from "#contract/ids.ts";
import { planIncludes } from "#contract/plans.ts";
import { KEY_SCOPES, KEY_SCOPES_DEFAULT } from "#contract/scopes.ts";
import { findKeyOwner } from "../api-keys/api-keys.ts";
import { readGiven, requireOrganization, requireOwned, toList } from "./arguments.ts";
import { callRoute } from "./call-route.ts";
import type { Command } from "./command.ts";

export const KEY_COMMANDS: readonly Command[] = [
  {
    name: "key list",
    usage: "key list --org ORG",
    summary: "list an organization's API keys",
    options: ["org"],
    positionals: 0,
    async run(context) {
      const { id: owner } = await requireOrganization(context.db, context.args.required("org"));
      const { data } = await callRoute(context, owner, "listKeys");
      const lines = data.map((key) => `${key.id}  ${key.name} (${key.condition})  ${key.scopes.join(",")}`);
      return { text: lines.join("\n") || "No API keys.", json: data };
    },
  },
  {
    name: "key create",
    usage: `key create --org ORG --name NAME [--scopes ${KEY_SCOPES.join(",")}] [--networks CIDR,…] [--expires-at DATE]`,
    summary: `create an API key; it is shown only once. Its scopes are ${KEY_SCOPES_DEFAULT.join(",")} unless --scopes is given`,
    options: ["org", "name", "scopes", "networks", "expires-at"],
    positionals: 0,
    async run(context) {
      const { args } = context;
      const { id: owner, plan } = await requireOrganization(context.db, args.required("org"));
      const settings = readGiven(args, { scopes: toList, networks: toList, expiresAt: String });
      const body = { name: args.required("name"), ...settings };
      const { id, key } = await callRoute(context, owner, "createKey", { body, onAnyPlan: true });
      const hint = planIncludes(plan, "readApi")
        ? ""
        : `\nThe read API returns 403 until this organization is on the Business plan. To change the plan: org set ${owner} --plan business`;
      return { text: `Created key ${id}. Save it now; it won't be shown again:\n${key}${hint}`, json: { id, key } };
    },
  },
  {
    name: "key revoke",
    usage: "key revoke KEY_ID",
    summary: "revoke an API key immediately",
    options: [],
    positionals: 1,
    async run(context) {
      const { id, owner } = await requireOwned(context, {
        parse: parseApiKeyId,
        findOwner: findKeyOwner,
        unknown: 'No API key has this ID. IDs look like key_…. Run "key list --org ORG" to see all of them.',
      });
      await callRoute(context, owner, "revokeKey", { params: { key: id } });
      const { data } = await callRoute(context, owner, "listKeys");
      return { text: `Revoked key ${id}.`, json: { id, revokedAt: data.find((key) => key.id === id)?.revokedAt } };
    },
  },
];
