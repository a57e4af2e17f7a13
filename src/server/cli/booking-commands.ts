import { BOOKING_STATUSES } from "#contract/bookings/booking.ts";
import type { Change } from "#contract/bookings/booking-changes.ts";
import { parseReference, parseWidgetId, type Reference } from "#contract/ids.ts";
import {
  type AppBookingFilter,
  findBooking,
  findBookingOwner,
  followAppointment,
  importBookings,
  listBookings,
  listChanges,
  listChangesOf,
  readSources,
  toBookingSummary,
} from "../bookings/bookings.ts";
import { cleanSearch } from "../http/parameters.ts";
import { findOrganization, type OrganizationRow, toKeptSince } from "../organizations/organizations.ts";
import { readWidgetNames } from "../widgets/widgets.ts";
import { parseChoice, parseInstant, parseNumber, refuse, requireOrganization } from "./arguments.ts";
import { type Command, type CommandContext, pluralize, UsageError } from "./command.ts";
import { nothingImported, PROGRESS_LINES, readLines, reportEvery } from "./read-lines.ts";

const SHOWN_DEFAULT = 50;
const LIMIT = { min: 1, max: 500 };
const RANGE = "[--widget ID] [--from 2026-11-01T09:30Z] [--to TIME]";

export const BOOKING_COMMANDS: readonly Command[] = [
  {
    name: "booking list",
    usage: `booking list --org ORG [--search TEXT] [--status ${BOOKING_STATUSES.join("|")}] ${RANGE} [--limit COUNT]`,
    summary: "list stored bookings, newest first; customers are only in the output of --json",
    options: ["org", "search", "status", "widget", "from", "to", "limit"],
    positionals: 0,
    async run(context) {
      const { db, args } = context;
      const owner = await requireOrganization(db, args.required("org"));
      const rows = await listBookings(db, owner.id, { ...readFilter(context, owner), limit: readLimit(context) });
      const reader = { seesCustomers: true, widgetNames: await readWidgetNames(db, owner.id) };
      const bookings = rows.map((row) => toBookingSummary(row, reader));
      const lines = bookings.map(
        ({ createdAt, reference, status, start, service }) =>
          `${createdAt}  ${reference}  ${status}  ${start}  ${service.name}`,
      );
      return { text: lines.join("\n") || "No bookings.", json: bookings };
    },
  },
  {
    name: "booking sources",
    usage: `booking sources --org ORG ${RANGE}`,
    summary: "count stored bookings by source: booked, cancelled, moved, kept",
    options: ["org", "widget", "from", "to"],
    positionals: 0,
    async run(context) {
      const owner = await requireOrganization(context.db, context.args.required("org"));
      const outcomes = await readSources(context.db, owner.id, readFilter(context, owner));
      const { all, sources, other } = outcomes;
      const rows = [
        { source: "all sources", ...all },
        ...sources.map(({ source, ...counts }) => ({ source: source || "no source", ...counts })),
        ...(other ? [{ source: "other sources", ...other }] : []),
      ];
      const lines = rows.map(
        ({ source, booked, cancelled, moved, kept }) =>
          `${source}  ${booked} booked, ${cancelled} cancelled, ${moved} moved, ${kept} kept`,
      );
      return { text: lines.join("\n"), json: outcomes };
    },
  },
  {
    name: "booking changes",
    usage: "booking changes --org ORG [--since TIME] [--limit COUNT]",
    summary: "list appointments that were cancelled or moved, newest first",
    options: ["org", "since", "limit"],
    positionals: 0,
    async run(context) {
      const { db, args } = context;
      const { id } = await requireOrganization(db, args.required("org"));
      const since = args.option("since");
      const from = since === null ? new Date(0) : parseInstant("since", since, "down");
      const changes = await listChanges(db, id, { from, before: null, limit: readLimit(context) });
      return { text: changes.map(describeChange).join("\n") || "No changes.", json: changes };
    },
  },
  {
    name: "booking check",
    usage: "booking check REFERENCE",
    summary: "ask the scheduling system now whether an appointment was cancelled or moved, and show its history",
    options: [],
    positionals: 1,
    async run(context) {
      const { reference, owner } = await requireBooking(context);
      const outcome = await followAppointment(context, { organizationId: owner.id, reference });
      const row = await findBooking(context.db, owner.id, { reference, createdFrom: new Date(0) });
      if (!row) throw new UsageError(NO_BOOKING);
      const changes = await listChangesOf(context.db, owner.id, reference);
      const now = `${reference}  ${row.status}  ${row.start_at.toISOString()}`;
      return {
        text: [OUTCOMES[outcome], now, ...changes.map(describeChange)].join("\n"),
        json: { reference, outcome, status: row.status, start: row.start_at.toISOString(), changes },
        exitCode: outcome === "waits" ? 1 : 0,
      };
    },
  },
];

const NO_BOOKING = "No stored booking has this reference.";

const OUTCOMES: Readonly<Record<Awaited<ReturnType<typeof followAppointment>>, string>> = {
  changed: "The appointment had changed. The stored booking follows it now.",
  unchanged: "The stored booking is up to date.",
  unknown: "The scheduling system doesn't know this appointment, or its connection is gone. Nothing was changed.",
  waits:
    "Nothing was changed now: the scheduling system didn't respond, Store bookings is off, or another process is checking. It is tried again.",
};

async function requireBooking(context: CommandContext): Promise<{ reference: Reference; owner: OrganizationRow }> {
  const reference = parseReference(context.args.positional[0] ?? "");
  const ownerId = reference && (await findBookingOwner(context.db, reference));
  const owner = ownerId && (await findOrganization(context.db, ownerId));
  if (!owner) throw new UsageError(NO_BOOKING);
  return { reference, owner };
}

function readLimit({ args }: CommandContext): number {
  const limit = args.option("limit");
  return limit === null ? SHOWN_DEFAULT : parseNumber("limit", limit, LIMIT);
}

function readFilter({ args, clock }: CommandContext, { plan }: OrganizationRow): Omit<AppBookingFilter, "limit"> {
  const [search, status, widget] = [args.option("search"), args.option("status"), args.option("widget")];
  const [from, to] = [args.option("from"), args.option("to")];
  const oldest = toKeptSince(plan, clock.now());
  const createdFrom = from === null ? oldest : parseInstant("from", from, "down");
  return {
    createdFrom: createdFrom > oldest ? createdFrom : oldest,
    createdBefore: to === null ? null : parseInstant("to", to, "up"),
    widgetId: widget === null ? null : (parseWidgetId(widget) ?? refuse("widget", "a widget ID")),
    search: cleanSearch(search ?? ""),
    parts: ["o", "c"],
    startFrom: null,
    startBefore: null,
    status: status === null ? null : parseChoice("status", status, BOOKING_STATUSES),
    sort: "newest",
    after: null,
  };
}

function describeChange({ changedAt, reference, type, previousStart, start }: Change): string {
  const what = type === "rescheduled" ? `moved from ${previousStart} to ${start}` : "cancelled";
  return `${changedAt}  ${reference}  ${what}`;
}

export const IMPORT_BOOKINGS_COMMAND: Command = {
  name: "import bookings",
  usage: "import bookings --org ORG FILE.ndjson",
  summary:
    "import bookings from a file with one JSON object per line: a booking as the read API returns it, plus widgetId",
  options: ["org"],
  positionals: 1,
  async run({ db, args, clock, config, tell }) {
    const organization = await requireOrganization(db, args.required("org"));
    const result = await importBookings(db, organization.id, {
      lines: readLines(args.positional[0] ?? ""),
      now: clock.now(),
      baseUrl: config.baseUrl,
      progress: reportEvery(PROGRESS_LINES, (lines) => tell(`${lines} lines read`)),
    });
    if ("fault" in result) throw nothingImported(result);
    const { imported, skipped, deleted } = result;
    const kept = deleted === 0 ? "" : ` Not imported: ${pluralize(deleted, "booking")} that had been deleted.`;
    return { text: `Imported ${pluralize(imported, "booking")}; ${skipped} already existed.${kept}`, json: result };
  },
};
