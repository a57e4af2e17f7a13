import type { Selectable } from "kysely";
import { WIDGET_NAME_LENGTH_MAX } from "#contract/app/limits.ts";
import type { WidgetChange } from "#contract/app/widgets.ts";
import { parseAccentColor, parseAllowedDomain } from "#contract/widget-looks.ts";
import type { WidgetsTable } from "../db/tables.ts";
import { type Checked, checkLine, requireFields } from "../http/check-fields.ts";
import { isSafeLink } from "../lib/safe-link.ts";

type CheckedWidget = Partial<Omit<Selectable<WidgetsTable>, "id" | "organization_id" | "created_at">>;

/** Converts the form to columns; throws its faults by field. */
export function checkWidgetChange(typed: Omit<WidgetChange, "was">, baseUrl: string): CheckedWidget {
  const { name, businessName, bookingUrl, accentColor, allowedDomains } = typed;
  const checked = requireFields({
    name: name === undefined ? undefined : checkLine(name, { lengthMax: WIDGET_NAME_LENGTH_MAX }),
    businessName:
      businessName === undefined
        ? undefined
        : checkLine(businessName, { lengthMax: WIDGET_NAME_LENGTH_MAX, mayBeEmpty: true }),
    bookingUrl: bookingUrl === undefined ? undefined : checkUrl(bookingUrl, baseUrl),
    accentColor: accentColor === undefined ? undefined : checkAccent(accentColor),
    allowedDomains: allowedDomains === undefined ? undefined : checkDomains(allowedDomains),
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
