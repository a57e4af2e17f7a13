import type { Selectable } from "kysely";
import { WIDGET_NAME_LENGTH_MAX } from "#contract/app/limits.ts";
import type { WidgetChange } from "#contract/app/widgets.ts";
import { type ConnectionId, type OrganizationId, parseConnectionId } from "#contract/ids.ts";
import { parseAccentColor, parseAllowedDomain } from "#contract/widget-looks.ts";
import type { Db } from "../db/pool.ts";
import type { WidgetsTable } from "../db/tables.ts";
import { noSuch } from "../http/api-error.ts";
import { type Checked, checkLine, requireFields } from "../http/check-fields.ts";
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
  const { name, businessName, bookingUrl, accentColor, allowedDomains, connectionId } = typed;
  const checked = requireFields({
    name: name === undefined ? undefined : checkLine(name, { lengthMax: WIDGET_NAME_LENGTH_MAX }),
    businessName:
      businessName === undefined
        ? undefined
        : checkLine(businessName, { lengthMax: WIDGET_NAME_LENGTH_MAX, mayBeEmpty: true }),
    bookingUrl: bookingUrl === undefined ? undefined : checkUrl(bookingUrl, baseUrl),
    accentColor: accentColor === undefined ? undefined : checkAccent(accentColor),
    allowedDomains: allowedDomains === undefined ? undefined : checkDomains(allowedDomains),
    connectionId: connectionId === undefined ? undefined : await checkConnection({ transaction, owner }, connectionId),
  });
  const columns = {
    name: checked.name,
    business_name: checked.businessName,
    template: typed.template,
    status: typed.status,
    collect_data: typed.collectData,
    booking_url: checked.bookingUrl,
    accent_color: checked.accentColor,
    allowed_domains: checked.allowedDomains,
    connection_id: checked.connectionId,
  };
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined)) as CheckedWidget;
}

function checkUrl(typed: string | null, baseUrl: string): Checked<string | null> {
  const text = typed?.trim() ?? "";
  if (text === "") return { value: null };
  const url = isSafeLink(text, baseUrl) ? URL.parse(text) : null;
  if (url === null || url.username + url.password !== "")
    return { fault: "Enter a full https URL, for example https://example.com/book." };
  return { value: url.href };
}

function checkAccent(typed: string | null): Checked<string | null> {
  if (typed === null) return { value: null };
  const color = parseAccentColor(typed);
  return color === null ? { fault: "Enter a colour such as #4b45d6." } : { value: color };
}

function checkDomains(typed: readonly string[]): Checked<string[]> {
  const domains = typed.map(parseAllowedDomain);
  const wrong = typed.find((_, i) => domains[i] === null);
  if (wrong !== undefined) return { fault: "Enter host names such as example.com or *.example.com." };
  return { value: [...new Set(domains.flatMap((domain) => domain ?? []))] };
}

async function checkConnection(
  { transaction, owner }: { transaction: Db; owner: OrganizationId },
  typed: string | null,
): Promise<Checked<ConnectionId | null>> {
  if (typed === null) return { value: null };
  const id = parseConnectionId(typed);
  const isHeld = id !== null && (await holdConnection(transaction, owner, id));
  return isHeld ? { value: id } : { fault: noSuch("connection").message };
}
