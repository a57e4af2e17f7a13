import { type Static, Type } from "typebox";
import { oneOf } from "#contract/app/forms.ts";
import { CALENDLY_PLANS, type ConnectionKind } from "#contract/scheduling.ts";
import { shapeOf } from "../../lib/shape.ts";

// The parts of each kind of connection: settings, which are shown, and credentials, which are sealed. Addresses can be
// changed because Cal.com may be self-hosted and Microsoft has national clouds; they are used only through outbound.ts.

const ADDRESS_LENGTH_MAX = 500;
const Address = Type.String({ maxLength: ADDRESS_LENGTH_MAX });

const MicrosoftBookings = {
  settings: Type.Object({
    tenantId: Type.String({ pattern: "^[A-Za-z0-9.-]{1,100}$" }),
    clientId: Type.String({ pattern: "^[A-Za-z0-9-]{1,100}$" }),
    /** The booking page's email address, or its id. */
    businessId: Type.String({ pattern: "^[^\\s/?#]{1,320}$" }),
    graphUrl: Address,
    loginUrl: Address,
  }),
  credentials: Type.Object({ clientSecret: Type.String({ pattern: "^[\\x21-\\x7e]{1,500}$" }) }),
};

const Calcom = {
  settings: Type.Object({
    apiUrl: Address,
    /** The address of Cal.com's pages; used for links only. */
    webUrl: Address,
  }),
  credentials: Type.Object({ apiKey: Type.String({ pattern: "^[\\x21-\\x7e]{1,500}$" }) }),
};

const Calendly = {
  settings: Type.Object({
    apiUrl: Address,
    /** Decides how many bookings Calendly accepts. */
    plan: oneOf(CALENDLY_PLANS),
  }),
  /** A personal access token. */
  credentials: Type.Object({ token: Type.String({ pattern: "^[\\x21-\\x7e]{1,2000}$" }) }),
};

type Parts<T extends { settings: Type.TSchema; credentials: Type.TSchema }> = {
  readonly settings: Readonly<Static<T["settings"]>>;
  readonly credentials: Readonly<Static<T["credentials"]>>;
};
export type MicrosoftBookingsParts = Parts<typeof MicrosoftBookings>;
export type CalcomParts = Parts<typeof Calcom>;
export type CalendlyParts = Parts<typeof Calendly>;

export type ConnectionParts =
  | ({ readonly kind: "microsoft-bookings" } & MicrosoftBookingsParts)
  | ({ readonly kind: "calcom" } & CalcomParts)
  | ({ readonly kind: "calendly" } & CalendlyParts);

const FALLBACKS = {
  "microsoft-bookings": {
    graphUrl: "https://graph.microsoft.com/v1.0",
    loginUrl: "https://login.microsoftonline.com",
  },
  calcom: { apiUrl: "https://api.cal.com", webUrl: "https://app.cal.com" },
  calendly: { apiUrl: "https://api.calendly.com", plan: "paid" },
} as const;

const shapes = {
  "microsoft-bookings": shapeOf(Type.Object(MicrosoftBookings)),
  calcom: shapeOf(Type.Object(Calcom)),
  calendly: shapeOf(Type.Object(Calendly)),
};

type ParsedParts =
  | { readonly kind: "parsed"; readonly parts: ConnectionParts }
  /** The names of the missing or invalid fields, without their values. */
  | { readonly kind: "refused"; readonly fields: readonly string[] };

/** Parses what a person typed, or what was stored. Optional settings that are empty get their default. */
export function parseConnectionParts(
  kind: ConnectionKind,
  given: { settings: Settings; credentials: unknown },
): ParsedParts {
  const settings: Record<string, unknown> = { ...FALLBACKS[kind] };
  const refusedFields: string[] = [];
  for (const [name, value] of Object.entries(given.settings)) {
    if (name.endsWith("Url") && value !== null && value !== "")
      settings[name] = typeof value === "string" ? parseAddress(value) : null;
    else if (!(name in FALLBACKS[kind]) || (value !== null && value !== "")) settings[name] = value;
    if (settings[name] === null) refusedFields.push(name);
  }
  // Cal.com's documents write the address with the version of the API.
  const { apiUrl } = settings;
  if (kind === "calcom" && typeof apiUrl === "string") settings["apiUrl"] = apiUrl.replace(/\/v2$/, "");
  const parts = { settings, credentials: given.credentials };
  for (const error of shapes[kind].Errors(parts)) {
    const path = error.instancePath.split("/");
    const missing = error.keyword === "required" ? error.params.requiredProperties : [];
    refusedFields.push(...missing, ...(missing.length === 0 ? [path[2] ?? path[1] ?? "settings"] : []));
  }
  if (refusedFields.length > 0) return { kind: "refused", fields: [...new Set(refusedFields)] };
  // The shape of this kind has just been checked; the compiler cannot follow the lookup.
  return { kind: "parsed", parts: { kind, ...parts } as ConnectionParts };
}

/** The settings that say in which account appointments are made. The others say how to get there, or what it can do. */
const ACCOUNT_SETTINGS = ["tenantId", "businessId", "graphUrl", "apiUrl"];

type Settings = Readonly<Record<string, unknown>>;

/** False if appointments made with one of these settings cannot be found with the other. Another person's key is not recognised. */
export function isSameAccount(one: Settings, other: Settings): boolean {
  return ACCOUNT_SETTINGS.every((name) => one[name] === other[name]);
}

/** Without a trailing slash, so that paths can be appended. The length is checked first: the pattern takes quadratic time. */
function parseAddress(text: string): string | null {
  if (text.length > ADDRESS_LENGTH_MAX) return null;
  const url = URL.parse(text.trim());
  const isBase =
    url !== null && /^https?:$/.test(url.protocol) && url.username + url.password === "" && !/[?#]/.test(text);
  return isBase ? url.href.replace(/\/+$/, "") : null;
}
