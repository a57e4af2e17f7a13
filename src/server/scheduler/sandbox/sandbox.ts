import { setTimeout as sleep } from "node:timers/promises";
import { MINUTE_MS } from "#contract/durations.ts";
import { isDemoWidget, type OrganizationId, type WidgetId } from "#contract/ids.ts";
import type { Deps } from "../../deps.ts";
import { assert } from "../../lib/assert.ts";
import { randomUuid } from "../../lib/secrets/random.ts";
import {
  type Booked,
  type BookOutcome,
  type BookRequest,
  type Failure,
  type FindOutcome,
  type Followed,
  found,
  type Lookup,
  type OfferedService,
  type Read,
  refused,
  type Slot,
  type SlotQuery,
  type UnlimitedSystem,
  type Upstream,
  type UpstreamFailure,
  unavailable,
} from "../scheduling-system.ts";
import { toAllResources, toCellKey, toCells, toFreeTimes, toResources, toTakenRange } from "./free-times.ts";
import { makeLinkSecret, toJoinUrl, toManageUrl } from "./links.ts";
import {
  type AppointmentRow,
  cancelAppointment,
  findAppointment,
  findSandbox,
  insertAppointment,
  insertSandbox,
  listTakenCells,
} from "./queries.ts";
import { DEFAULT_SETUP, type SandboxService, type SandboxSetup } from "./setup.ts";

// The built-in scheduling system, for demos, tests and first steps. It behaves like the others: it has its own
// statements, never joins the caller's transaction, and stores no customer data. A database error is reported as one of
// theirs would be: unavailable, or unknown once an appointment may have been made.

export type SandboxDeps = Pick<Deps, "db" | "clock" | "random" | "log"> & { readonly baseUrl: string };

type SandboxOwner = { readonly organizationId: OrganizationId; readonly widgetId: WidgetId };

const SLOW_MS = 3_000;
const BUSY_RETRY_AFTER_MS = 30_000;

export function createSandbox(deps: SandboxDeps, owner: SandboxOwner): UnlimitedSystem {
  const asRead = async <T>(signal: AbortSignal, read: () => Promise<Read<T>>): Promise<Read<T>> => {
    if (signal.aborted) return unavailable(noReply("aborted"));
    return await read().catch((error: unknown) => unavailable(reportFault(deps, owner, error)));
  };
  /** A request books what it has listed. */
  let listed: Loaded | null = null;
  return {
    kind: "sandbox",
    mode: isDemoWidget(owner.widgetId) ? "live" : "test",
    verify: (signal) =>
      asRead(signal, async () => {
        const { businessName, timeZone } = await loadSandbox(deps, owner);
        return found({ businessName, timeZone, bookingUrl: null, warnings: [] });
      }),
    listServices: (signal) =>
      asRead(signal, async () => {
        listed = await loadSandbox(deps, owner);
        return found(toOfferedServices(listed));
      }),
    listSlots: (query, signal) => asRead(signal, () => listSlots(deps, owner, query)),
    findByReference: async (lookup, signal): Promise<FindOutcome> => {
      const read = await asRead(signal, () => findBooked(deps, owner, lookup));
      if (read.kind !== "found") return read;
      return read.value === null ? { kind: "absent" } : found(read.value);
    },
    follow: (appointment, signal) =>
      asRead<Followed>(signal, async () => {
        const key = { widgetId: owner.widgetId, reference: appointment.reference };
        const row = await findAppointment(deps.db, owner.organizationId, key);
        if (row === null || row.canceled_at !== null) return found({ kind: "cancelled" });
        const { setup } = await loadSandbox(deps, owner);
        return found({ kind: "confirmed", ...toBooked(deps, setup, row) });
      }),
    listChanged: null,
    subscriptions: null,
    cancel: (appointment, signal) =>
      asRead(signal, async () => {
        const key = { widgetId: owner.widgetId, reference: appointment.reference, now: deps.clock.now() };
        await cancelAppointment(deps.db, owner.organizationId, key);
        return found("canceled");
      }),
    book: async (request, signal) => {
      if (signal.aborted) return unavailable(noReply("aborted"));
      const planned = await plan(deps, owner, { request, listed }).catch((error: unknown) =>
        unavailable(reportFault(deps, owner, error)),
      );
      if (planned.kind !== "planned") return planned;
      const failure = toFailureSwitch(request.customer.email);
      const early = await failEarly(failure, signal);
      if (early !== null) return early;
      try {
        const outcome = await book(deps, owner, { ...planned, request });
        return failure === "fail-timeout-created" && outcome.kind === "booked" ? lost("timeout") : outcome;
      } catch (error) {
        return { kind: "unknown", upstream: reportFault(deps, owner, error) };
      }
    },
  };
}

type Loaded = { setup: SandboxSetup; timeZone: string; businessName: string };
type Planned = { kind: "planned"; sandbox: Loaded; service: SandboxService };

export async function loadSandbox(deps: SandboxDeps, owner: SandboxOwner): Promise<Loaded> {
  const known = await findSandbox(deps.db, owner.organizationId, owner.widgetId);
  if (known) return known;
  const first = { widgetId: owner.widgetId, setup: DEFAULT_SETUP, now: deps.clock.now() };
  await insertSandbox(deps.db, owner.organizationId, first);
  const made = await findSandbox(deps.db, owner.organizationId, owner.widgetId);
  assert(made, "an existing widget has its sandbox once it was inserted");
  return made;
}

async function listSlots(deps: SandboxDeps, owner: SandboxOwner, query: SlotQuery): Promise<Read<Slot[]>> {
  const sandbox = await loadSandbox(deps, owner);
  const service = sandbox.setup.services.find(({ id }) => id === query.serviceId);
  if (!service) return refused("not_found");
  if (!isChoosable(service, query.staffId)) return refused("invalid");
  const slots = await findFreeTimes(deps, owner, { ...query, sandbox, service });
  return found(service.staffSelectable ? slots : slots.map((slot) => ({ ...slot, staffIds: [] })));
}

export async function findFreeTimes(
  deps: SandboxDeps,
  owner: SandboxOwner,
  query: { sandbox: Loaded; service: SandboxService; staffId: string | null; from: Date; to: Date },
): Promise<Slot[]> {
  const { sandbox, service } = query;
  const rows = await listTakenCells(deps.db, owner.organizationId, {
    widgetId: owner.widgetId,
    resources: toAllResources(service),
    ...toTakenRange(service, query),
  });
  const taken = new Set(rows.map((row) => toCellKey(row.resource, row.cell_at)));
  return toFreeTimes(sandbox.setup, { ...query, timeZone: sandbox.timeZone, now: deps.clock.now(), taken });
}

/** Refuses what a real system would refuse, regardless of available times. */
async function plan(
  deps: SandboxDeps,
  owner: SandboxOwner,
  { request, listed }: { request: BookRequest; listed: Loaded | null },
): Promise<Planned | Failure> {
  const sandbox = listed ?? (await loadSandbox(deps, owner));
  const service = sandbox.setup.services.find(({ id }) => id === request.serviceId);
  if (!service) return refused("not_found");
  const isAnswered = (id: string) =>
    request.answers.some(({ questionId, answer }) => questionId === id && answer.trim() !== "");
  if (!service.questions.every(({ id, required }) => !required || isAnswered(id))) return refused("invalid");
  return isChoosable(service, request.staffId) ? { kind: "planned", sandbox, service } : refused("invalid");
}

/** Tries the free staff one after the other, because someone may be taken between the check and the booking. */
async function book(
  deps: SandboxDeps,
  owner: SandboxOwner,
  { sandbox, service, request }: Planned & { request: BookRequest },
): Promise<BookOutcome> {
  const { startAt } = request;
  const range = { from: startAt, to: new Date(startAt.getTime() + 1) };
  for (let tries = 0; tries < service.staffIds.length; tries++) {
    const [slot] = await findFreeTimes(deps, owner, { sandbox, service, staffId: request.staffId, ...range });
    const staffId = slot?.staffIds.find((id) => request.offeredStaffIds?.includes(id) ?? true);
    if (staffId === undefined) break;
    const row = toRow(deps, owner, { service, request, staffId });
    const appointment = { row, resources: toResources({ service, staffId }), cells: toCells(service, startAt) };
    const made = await insertAppointment(deps.db, owner.organizationId, appointment);
    if (made === "reference_used") break;
    if (made === "made") return toOutcome(deps, sandbox, { ...row, organization_id: owner.organizationId });
  }
  // If this reference was booked before, it is the same booking.
  return toOutcome(deps, sandbox, await findKept(deps, owner, request));
}

function toOutcome(deps: SandboxDeps, sandbox: Loaded, row: AppointmentRow | null): BookOutcome {
  return row === null ? { kind: "slot_taken" } : { kind: "booked", booked: toBooked(deps, sandbox.setup, row) };
}

function toRow(
  deps: SandboxDeps,
  owner: SandboxOwner,
  { service, request, staffId }: { service: SandboxService; request: BookRequest; staffId: string },
): Omit<AppointmentRow, "organization_id"> {
  return {
    widget_id: owner.widgetId,
    reference: request.reference,
    id: randomUuid(deps.random),
    service_id: service.id,
    staff_id: staffId,
    start_at: request.startAt,
    end_at: new Date(request.startAt.getTime() + service.durationMinutes * MINUTE_MS),
    manage_secret: makeLinkSecret(deps.random),
    join_secret: service.isOnline ? makeLinkSecret(deps.random) : null,
    created_at: deps.clock.now(),
    canceled_at: null,
  };
}

async function findKept(deps: SandboxDeps, owner: SandboxOwner, lookup: Lookup): Promise<AppointmentRow | null> {
  const key = { widgetId: owner.widgetId, reference: lookup.reference };
  const row = await findAppointment(deps.db, owner.organizationId, key);
  return row === null || row.canceled_at !== null ? null : row;
}

async function findBooked(deps: SandboxDeps, owner: SandboxOwner, lookup: Lookup): Promise<Read<Booked | null>> {
  const row = await findKept(deps, owner, lookup);
  if (row === null) return found(null);
  const { setup } = await loadSandbox(deps, owner);
  return found(toBooked(deps, setup, row));
}

function toBooked(deps: SandboxDeps, setup: SandboxSetup, row: AppointmentRow): Booked {
  const token = { widgetId: row.widget_id, reference: row.reference };
  return {
    externalId: row.id,
    startAt: row.start_at,
    endAt: row.end_at,
    service: { id: row.service_id, name: toName(setup.services, row.service_id) },
    staff: [{ id: row.staff_id, name: toName(setup.staff, row.staff_id) }],
    manageUrl: toManageUrl(deps.baseUrl, { ...token, secret: row.manage_secret }),
    joinUrl: row.join_secret === null ? null : toJoinUrl(deps.baseUrl, { ...token, secret: row.join_secret }),
  };
}

function toOfferedServices({ setup }: Loaded): OfferedService[] {
  return setup.services.map((service) => toOffered(setup, service));
}

function toOffered(setup: SandboxSetup, service: SandboxService): OfferedService {
  const { id, name, description, durationMinutes, isOnline, staffSelectable, questions } = service;
  const staff = setup.staff
    .filter((member) => staffSelectable && service.staffIds.includes(member.id))
    .map((member) => ({ id: member.id, name: member.name }));
  return { id, name, description, durationMinutes, isOnline, staff, staffSelectable, questions };
}

function isChoosable(service: SandboxService, staffId: string | null): boolean {
  return staffId === null || (service.staffSelectable && service.staffIds.includes(staffId));
}

/** The current name, because the setup may have changed; the id if there is none any more. */
export function toName(named: readonly { id: string; name: string }[], id: string): string {
  return named.find((candidate) => candidate.id === id)?.name ?? id;
}

/** Null when the booking continues. */
async function failEarly(failure: FailureSwitch | null, signal: AbortSignal): Promise<BookOutcome | null> {
  switch (failure) {
    case "fail-slot":
      return { kind: "slot_taken" };
    case "fail-500":
      return unavailable({ status: 500, requestId: null, failure: null });
    case "fail-429":
      return unavailable({ status: 429, requestId: null, failure: null }, BUSY_RETRY_AFTER_MS);
    case "fail-timeout-lost":
      return lost("timeout");
    case "slow-3s":
      // The only rejection is the abort of the signal.
      await sleep(SLOW_MS, undefined, { signal }).catch(() => undefined);
      return signal.aborted ? unavailable(noReply("aborted")) : null;
    case "fail-timeout-created":
    case null:
      return null;
    default:
      return failure satisfies never;
  }
}

function lost(failure: UpstreamFailure): BookOutcome {
  return { kind: "unknown", upstream: noReply(failure) };
}

function noReply(failure: UpstreamFailure): Upstream {
  return { status: null, requestId: null, failure };
}

function reportFault(deps: SandboxDeps, owner: SandboxOwner, error: unknown): Upstream {
  deps.log.warn("sandbox.failed", { ...owner, error });
  return noReply("database");
}

// For demos and tests: the local part of the customer's email address makes the sandbox fail in a certain way. Everything
// after a plus sign is ignored, so `fail-slot+anna@example.com` works too.
//
// | local part           | appointment made | outcome                            |
// |----------------------|------------------|------------------------------------|
// | fail-slot            | no               | slot_taken                         |
// | fail-500             | no               | unavailable                        |
// | fail-429             | no               | unavailable, with a wait           |
// | fail-timeout-created | yes              | unknown                            |
// | fail-timeout-lost    | no               | unknown                            |
// | slow-3s              | yes              | booked, three seconds later        |

const FAILURE_SWITCHES = [
  "fail-slot",
  "fail-500",
  "fail-429",
  "fail-timeout-created",
  "fail-timeout-lost",
  "slow-3s",
] as const;
type FailureSwitch = (typeof FAILURE_SWITCHES)[number];

function toFailureSwitch(email: string): FailureSwitch | null {
  const localPart = email.trim().toLowerCase().split("@", 1)[0]?.split("+", 1)[0];
  return FAILURE_SWITCHES.find((name) => name === localPart) ?? null;
}
