import type { Selectable } from "kysely";
import { WIDGET_NAME_LENGTH_MAX } from "#contract/app/limits.ts";
import type { WidgetChange } from "#contract/app/widgets.ts";
import { type ConnectionId, type OrganizationId, parseConnectionId } from "#contract/ids.ts";
import { parseAccentColor, parseAllowedDomain } from "#contract/widget-looks.ts";
import type { Db } from "../db/pool.ts";
import type { WidgetsTable } from "../db/tables.ts";
import { noSuch } from "../http/api-error.ts";
import { FormCheck } from "../http/body.ts";
import { isSafeLink } from "../lib/safe-link.ts";
import { holdConnection } from "../scheduler/connections/queries.ts";

type CheckedWidget = Partial<Omit<Selectable<WidgetsTable>, "id" | "organization_id" | "created_at">>;

/**
 * Converts the form to columns; throws its faults by field. Runs in the transaction that saves it, so that the connection
 * can't be deleted in between.
 */
export async function checkWidgetChange(
  transaction: Db,
  owner: OrganizationId,
  { typed, baseUrl }: { typed: Omit<WidgetChange, "was">; baseUrl: string },
): Promise<CheckedWidget> {
  const form = new FormCheck();
  const change: CheckedWidget = {};
  if (typed.name !== undefined) change.name = form.line("name", typed.name, { lengthMax: WIDGET_NAME_LENGTH_MAX });
  if (typed.businessName !== undefined)
    change.business_name = form.line("businessName", typed.businessName, {
      lengthMax: WIDGET_NAME_LENGTH_MAX,
      mayBeEmpty: true,
    });
  if (typed.template !== undefined) change.template = typed.template;
  if (typed.status !== undefined) change.status = typed.status;
  if (typed.collectData !== undefined) change.collect_data = typed.collectData;
  if (typed.bookingUrl !== undefined) change.booking_url = checkUrl(form, typed.bookingUrl, baseUrl);
  if (typed.accentColor !== undefined) change.accent_color = checkAccent(form, typed.accentColor);
  if (typed.allowedDomains !== undefined) change.allowed_domains = checkDomains(form, typed.allowedDomains);
  if (typed.connectionId !== undefined)
    change.connection_id = await checkConnection(form, { transaction, owner }, typed.connectionId);
  form.done();
  return change;
}

function checkUrl(form: FormCheck, typed: string | null, baseUrl: string): string | null {
  const text = typed?.trim() ?? "";
  if (text === "") return null;
  const url = isSafeLink(text, baseUrl) ? URL.parse(text) : null;
  if (url === null || url.username + url.password !== "")
    form.refuse("bookingUrl", "Enter a full https URL, for example https://example.com/book.");
  return url?.href ?? null;
}

function checkAccent(form: FormCheck, typed: string | null): string | null {
  if (typed === null) return null;
  const color = parseAccentColor(typed);
  if (color === null) form.refuse("accentColor", "Enter a colour such as #4b45d6.");
  return color;
}

function checkDomains(form: FormCheck, typed: readonly string[]): string[] {
  const domains = typed.map(parseAllowedDomain);
  const wrong = typed.find((_, i) => domains[i] === null);
  if (wrong !== undefined) form.refuse("allowedDomains", "Enter host names such as example.com or *.example.com.");
  return [...new Set(domains.flatMap((domain) => domain ?? []))];
}

async function checkConnection(
  form: FormCheck,
  { transaction, owner }: { transaction: Db; owner: OrganizationId },
  typed: string | null,
): Promise<ConnectionId | null> {
  if (typed === null) return null;
  const id = parseConnectionId(typed);
  const isHeld = id !== null && (await holdConnection(transaction, owner, id));
  if (!isHeld) form.refuse("connectionId", noSuch("connection").message);
  return id;
}
