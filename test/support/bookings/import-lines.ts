import { type OrganizationId, REFERENCE_ALPHABET, type WidgetId } from "#contract/ids.ts";
import { type ImportResult, importBookings } from "../../../src/server/bookings/import/import-bookings.ts";
import type { Db } from "../../../src/server/db/connections/pool.ts";
import type { TextLine } from "../../../src/server/lib/text/text-lines.ts";
import { makeOrganization, makeWidget, NOON } from "../builders.ts";

/** A line in a file for `import bookings`: a booking, or anything else. */
export type ImportLine = Record<string, unknown> | string;

/** The default createdAt of a line. */
const OCTOBER = "2026-10-01T09:30:00.000Z";

export const afterOctober = (ms: number): string => new Date(Date.parse(OCTOBER) + ms).toISOString();

/** A valid line, except for the given fields. */
export function makeLine(widgetId: WidgetId, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    reference: nextReference(),
    createdAt: OCTOBER,
    start: "2026-11-05T09:00:00.000Z",
    end: "2026-11-05T09:30:00.000Z",
    timeZone: "Europe/Berlin",
    service: { id: "svc-1", name: "Check-up" },
    customer: { name: "Mara Quell", email: "mara.quell@example.com" },
    widgetId,
    ...fields,
  };
}

let referencesMade = 0;

/** Counted up, so that no two lines in a test file share one. */
function nextReference(): string {
  let rest = referencesMade++;
  let characters = "";
  for (let place = 0; place < 6; place++) {
    characters = REFERENCE_ALPHABET.charAt(rest % REFERENCE_ALPHABET.length) + characters;
    rest = Math.floor(rest / REFERENCE_ALPHABET.length);
  }
  return `SVC-${characters}`;
}

export async function* toLines(lines: Iterable<ImportLine>): AsyncGenerator<readonly TextLine[]> {
  for (const one of lines) yield [{ text: typeof one === "string" ? one : JSON.stringify(one) }];
}

export async function importLines(
  db: Db,
  owner: OrganizationId,
  { lines, now = NOON }: { lines: Iterable<ImportLine>; now?: Date },
): Promise<ImportResult> {
  return await importBookings(db, owner, {
    lines: toLines(lines),
    now,
    baseUrl: "http://localhost:3000",
    progress: () => {},
  });
}

export async function makeOwner(db: Db): Promise<{ owner: OrganizationId; widgetId: WidgetId }> {
  const owner = await makeOrganization(db);
  return { owner, widgetId: await makeWidget(db, owner) };
}

/** Reference and createdAt of the organization's stored bookings, oldest first. */
export async function readTimes(db: Db, owner: OrganizationId): Promise<[reference: string, createdAt: string][]> {
  const rows = await db
    .selectFrom("bookings")
    .select(["reference", "created_at"])
    .where("organization_id", "=", owner)
    .orderBy("created_at")
    .execute();
  return rows.map((row) => [row.reference, row.created_at.toISOString()]);
}
