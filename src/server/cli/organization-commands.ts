import { ORGANIZATION_ID, type OrganizationId } from "#contract/ids.ts";
import { PLANS } from "#contract/plans.ts";
import { NAME_LENGTH_MAX } from "#contract/widgets/embed-api.ts";
import { auditByOperator, describeChanges } from "../audit/audit.ts";
import { inTransaction } from "../db/statements/transactions.ts";
import { randomId } from "../lib/secrets/random.ts";
import { parseTimeZone } from "../lib/time/calendar.ts";
import {
  type DeletedOrganization,
  insertOrganization,
  listDeleted,
  listOrganizations,
  type OrganizationRow,
  removeOrganization,
  updateOrganization,
} from "../organizations/organizations.ts";
import { parseChoice, parseText, readGiven, requireOrganization } from "./arguments.ts";
import { callRoute } from "./call-route.ts";
import { type Command, pluralize, UsageError } from "./command.ts";

export const ORGANIZATION_COMMANDS: readonly Command[] = [
  {
    name: "org create",
    usage: "org create --name NAME [--plan free|pro|business] [--time-zone ZONE]",
    summary: "create an organization",
    options: ["name", "plan", "time-zone"],
    positionals: 0,
    async run({ db, args, clock, random }) {
      const timeZone = args.option("time-zone");
      const organization: OrganizationRow = {
        id: randomId<OrganizationId>(random, ORGANIZATION_ID),
        name: parseText("name", args.required("name"), NAME_LENGTH_MAX),
        plan: parseChoice("plan", args.option("plan") ?? "free", PLANS),
        time_zone: timeZone === null ? null : requireTimeZone(timeZone),
        created_at: clock.now(),
      };
      await inTransaction(db, async (transaction) => {
        await insertOrganization(transaction, organization);
        const audit = auditByOperator({ random }, organization.id, organization.created_at);
        const { id: target, name, plan } = organization;
        await audit(transaction, { action: "organization.created", target, name, detail: { plan } });
      });
      return { text: `Created ${describe(organization)}.`, json: { id: organization.id } };
    },
  },
  {
    name: "org set",
    usage: "org set ORG [--name NAME] [--plan free|pro|business] [--time-zone ZONE]",
    summary: "change an organization",
    options: ["name", "plan", "time-zone"],
    positionals: 1,
    async run(context) {
      const { db, args, clock, random } = context;
      const { id, plan: planBefore } = await requireOrganization(db, args.positional[0] ?? "");
      const body = readGiven(args, { name: String, timeZone: String });
      const text = args.option("plan");
      const plan = text === null ? null : parseChoice("plan", text, PLANS);
      if (plan === null && Object.keys(body).length === 0)
        throw new UsageError("Nothing to change. Use --name, --plan or --time-zone.");
      if (Object.keys(body).length > 0) await callRoute(context, id, "changeOrganization", { body });
      // Only the operator changes plans, so no route does.
      if (plan !== null)
        await inTransaction(db, async (transaction) => {
          const changed = await updateOrganization(transaction, id, { plan });
          const detail = describeChanges({ plan: planBefore }, { plan });
          const entry = { action: "organization.changed", target: id, name: changed?.name, detail } as const;
          await auditByOperator({ random }, id, clock.now())(transaction, entry);
        });
      const organization = await requireOrganization(db, id);
      return { text: `Changed ${describe(organization)}.`, json: toJson(organization) };
    },
  },
  {
    name: "org delete",
    usage: "org delete ORG --name NAME",
    summary: "delete an organization and all its data; --name confirms it",
    options: ["name"],
    positionals: 1,
    async run({ db, args, clock, log }) {
      const { id, name } = await requireOrganization(db, args.positional[0] ?? "");
      if (args.required("name") !== name)
        throw new UsageError(`--name must be the organization's name, ${JSON.stringify(name)}.`);
      await removeOrganization({ db, clock, log }, { id, name, deletedBy: null });
      return { text: `Deleted ${id}  ${name}.`, json: { id } };
    },
  },
  {
    name: "org list",
    usage: "org list [--deleted]",
    summary: "list all organizations, or those that were deleted",
    options: [],
    flags: ["deleted"],
    positionals: 0,
    async run({ db, args }) {
      if (args.flag("deleted")) {
        const deleted = await listDeleted(db);
        return { text: deleted.map(describeDeleted).join("\n") || "No deleted organizations.", json: deleted };
      }
      const organizations = await listOrganizations(db);
      const text = organizations.map(describe).join("\n") || "No organizations yet.";
      return { text, json: organizations.map(toJson) };
    },
  },
];

function describe({ id, name, plan, time_zone }: OrganizationRow): string {
  return `${id}  ${name} (${plan}, ${time_zone ?? "UTC"})`;
}

function describeDeleted({ id, name, deletedAt, deletedBy, bookings }: DeletedOrganization): string {
  return `${id}  ${name}, deleted ${deletedAt.toISOString()} by ${deletedBy ?? "the operator"}, with ${pluralize(bookings, "booking")}`;
}

function toJson({ id, name, plan, time_zone, created_at }: OrganizationRow) {
  return { id, name, plan, timeZone: time_zone ?? "UTC", createdAt: created_at.toISOString() };
}

function requireTimeZone(text: string): string {
  const zone = parseTimeZone(text);
  if (zone === null) throw new UsageError("--time-zone must be an IANA time zone, for example Europe/Berlin.");
  return zone;
}
