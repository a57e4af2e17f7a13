import type { Insertable, Selectable } from "kysely";
import type { WidgetChange } from "#contract/app/widgets.ts";
import { WIDGET_NAME_LENGTH_MAX } from "#contract/limits.ts";
import { NO_OPTIONS, type WidgetOptions } from "#contract/widgets/widget.ts";
import {
  BUTTON_LABEL_LENGTH_MAX,
  parseAccentColor,
  parseAllowedDomain,
  parseFontFamily,
} from "#contract/widgets/widget-looks.ts";
import type { WidgetsTable } from "../db/tables/tables.ts";
import { type Checked, checkLine, requireFields } from "../http/errors/check-fields.ts";
import { isSafeLink } from "../lib/text/safe-link.ts";

type TypedWidget = Omit<WidgetChange, "was">;
type CheckedWidget = Partial<Omit<Insertable<WidgetsTable>, "id" | "organization_id" | "created_at">>;
type WidgetBefore = Pick<Selectable<WidgetsTable>, "options" | "offers" | "connection_id">;

/** Converts the form to columns; throws its faults by field. `before` is the widget as it is, or null for a new one. */
export function checkWidgetChange(typed: TypedWidget, baseUrl: string, before: WidgetBefore | null): CheckedWidget {
  const checked = checkWidgetSettings(typed, baseUrl);
  const columns = {
    name: checked.name,
    business_name: checked.businessName,
    template: checked.template,
    status: checked.status,
    collect_data: checked.collectData,
    booking_url: checked.bookingUrl,
    accent_color: checked.accentColor,
    allowed_domains: checked.allowedDomains,
    options: toOptions(checked, before),
    offers: toOffers(checked, before),
  };
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined)) as CheckedWidget;
}

/** The form's values as they are stored and shown; throws its faults by field. */
export function checkWidgetSettings(typed: TypedWidget, baseUrl: string): TypedWidget {
  const { name, businessName, bookingUrl, accentColor, allowedDomains, fontFamily } = typed;
  const { buttonLabel, thankYouUrl, privacyUrl } = typed;
  const checked = requireFields({
    name: name === undefined ? undefined : checkLine(name, { lengthMax: WIDGET_NAME_LENGTH_MAX }),
    businessName:
      businessName === undefined
        ? undefined
        : checkLine(businessName, { lengthMax: WIDGET_NAME_LENGTH_MAX, mayBeEmpty: true }),
    bookingUrl: bookingUrl === undefined ? undefined : checkUrl(bookingUrl, baseUrl),
    accentColor: accentColor === undefined ? undefined : checkAccent(accentColor),
    allowedDomains: allowedDomains === undefined ? undefined : checkDomains(allowedDomains),
    fontFamily: fontFamily === undefined ? undefined : checkFont(fontFamily),
    buttonLabel: buttonLabel === undefined ? undefined : checkButtonLabel(buttonLabel),
    thankYouUrl: thankYouUrl === undefined ? undefined : checkUrl(thankYouUrl, baseUrl),
    privacyUrl: privacyUrl === undefined ? undefined : checkUrl(privacyUrl, baseUrl),
  });
  return { ...typed, ...checked };
}

/** As JSON text; undefined if no option is changed. */
function toOptions(checked: TypedWidget, before: WidgetBefore | null): string | undefined {
  const names = Object.keys(NO_OPTIONS) as (keyof WidgetOptions)[];
  const changed = names.filter((name) => checked[name] !== undefined);
  if (changed.length === 0) return undefined;
  const options = { ...before?.options, ...Object.fromEntries(changed.map((name) => [name, checked[name]])) };
  return JSON.stringify(
    Object.fromEntries(names.filter((name) => isSet(options, name)).map((name) => [name, options[name]])),
  );
}

function isSet(options: Partial<WidgetOptions>, name: keyof WidgetOptions): boolean {
  return options[name] !== undefined && options[name] !== NO_OPTIONS[name];
}

/** Each scheduling system has its own services, so the offer is kept with the one that it was chosen for. */
function toOffers({ offer }: TypedWidget, before: WidgetBefore | null): string | undefined {
  if (offer === undefined) return undefined;
  const { [before?.connection_id ?? "sandbox"]: _, ...others } = before?.offers ?? {};
  return JSON.stringify(offer === null ? others : { ...others, [before?.connection_id ?? "sandbox"]: offer });
}

function checkFont(typed: string | null): Checked<string | null> {
  if (typed === null || typed.trim() === "") return { value: null };
  const name = parseFontFamily(typed);
  return name === null ? { fault: "Enter the name of one font, such as Georgia." } : { value: name };
}

/** Null without a text. */
function checkButtonLabel(typed: string | null): Checked<string | null> {
  const checked = checkLine(typed ?? "", { lengthMax: BUTTON_LABEL_LENGTH_MAX, mayBeEmpty: true });
  return "value" in checked && checked.value === "" ? { value: null } : checked;
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
