import { DAY_MS } from "#contract/durations.ts";
import { assert } from "../../lib/assert.ts";
import { randomUuid } from "../../lib/secrets/random.ts";
import { toCells, toResources } from "./free-times.ts";
import { findByManageToken, type ManagedAppointment } from "./manage.ts";
import { findAppointment, moveAppointment } from "./queries.ts";
import { findFreeTimes, loadSandbox, type SandboxDeps } from "./sandbox.ts";

// Gives an appointment another time. As in other systems, it gets another id and keeps its reference.

const OFFERED_DAYS = 14;

export async function listOtherTimes(deps: SandboxDeps, managed: ManagedAppointment): Promise<Date[]> {
  const now = deps.clock.now();
  const range = { from: now, to: new Date(now.getTime() + OFFERED_DAYS * DAY_MS) };
  const { sandbox, service } = await loadService(deps, managed);
  const slots = service ? await findFreeTimes(deps, managed, { sandbox, service, staffId: null, ...range }) : [];
  return slots.map(({ startAt }) => startAt);
}

/** A wrong token is `not_found`. What is cancelled or has begun stays as it is. */
export async function moveByManageToken(
  deps: SandboxDeps,
  token: string,
  startAt: Date,
): Promise<{ kind: "moved" | "taken" | "over"; appointment: ManagedAppointment } | { kind: "not_found" }> {
  const appointment = await findByManageToken(deps, token);
  if (appointment === null) return { kind: "not_found" };
  if (appointment.canceledAt !== null || appointment.startAt <= deps.clock.now()) return { kind: "over", appointment };
  const { sandbox, service, row } = await loadService(deps, appointment);
  if (!service) return { kind: "taken", appointment };
  const range = { from: startAt, to: new Date(startAt.getTime() + 1) };
  const [slot] = await findFreeTimes(deps, appointment, { sandbox, service, staffId: null, ...range });
  if (!slot) return { kind: "taken", appointment };
  const staffId = slot.staffIds.includes(row.staff_id) ? row.staff_id : (slot.staffIds[0] ?? row.staff_id);
  const { startAt: start_at, endAt: end_at } = slot;
  const outcome = await moveAppointment(deps.db, appointment.organizationId, {
    row: { ...row, id: randomUuid(deps.random), staff_id: staffId, start_at, end_at },
    resources: toResources({ service, staffId }),
    cells: toCells(service, start_at),
  });
  return { kind: outcome === "gone" ? "over" : outcome, appointment };
}

async function loadService(deps: SandboxDeps, managed: ManagedAppointment) {
  const row = await findAppointment(deps.db, managed.organizationId, managed);
  assert(row, "an appointment that was just read exists");
  const sandbox = await loadSandbox(deps, managed);
  return { row, sandbox, service: sandbox.setup.services.find(({ id }) => id === row.service_id) };
}
