import type { AppConnection, CONNECTION_FIELDS } from "#contract/app/connections.ts";
import type { ConnectionKind } from "#contract/scheduling.ts";
import { FAILURE_WORDS } from "../deliveries/delivery-words.ts";

// Scheduling systems and the fields of their forms, in words.

type Field = { readonly label: string; readonly description?: string; readonly placeholder?: string };
type SettingsOf<Kind extends ConnectionKind> = (typeof CONNECTION_FIELDS)[Kind]["settings"][number];
type CredentialsOf<Kind extends ConnectionKind> = (typeof CONNECTION_FIELDS)[Kind]["credentials"][number];
type OptionalOf<Kind extends ConnectionKind> = (typeof CONNECTION_FIELDS)[Kind]["optional"][number];

type KindWords<Kind extends ConnectionKind> = {
  readonly name: string;
  readonly settings: Readonly<Record<Exclude<SettingsOf<Kind>, OptionalOf<Kind>>, Field>>;
  readonly credentials: Readonly<Record<CredentialsOf<Kind>, Field>>;
  /** Have a usual value, which stands in them while they are empty. */
  readonly optional: Readonly<Record<OptionalOf<Kind>, Field>>;
};

export type FieldName = { [Kind in ConnectionKind]: SettingsOf<Kind> | CredentialsOf<Kind> }[ConnectionKind];

const WORDS: { readonly [Kind in ConnectionKind]: KindWords<Kind> } = {
  "microsoft-bookings": {
    name: "Microsoft Bookings",
    settings: {
      tenantId: { label: "Directory (tenant) id", placeholder: "00000000-0000-0000-0000-000000000000" },
      clientId: { label: "Application (client) id", placeholder: "00000000-0000-0000-0000-000000000000" },
      businessId: {
        label: "Booking page",
        description: "Its mail address. It has to be a shared booking page, not a personal one.",
        placeholder: "lindenhof@example.onmicrosoft.com",
      },
    },
    credentials: { clientSecret: { label: "Client secret", description: "Its value, not its id." } },
    optional: {
      graphUrl: { label: "Address of Microsoft Graph", placeholder: "https://graph.microsoft.com/v1.0" },
      loginUrl: { label: "Address of the sign-in", placeholder: "https://login.microsoftonline.com" },
    },
  },
  calcom: {
    name: "Cal.com",
    settings: {},
    credentials: {
      apiKey: {
        label: "API key",
        description: "In Cal.com under Settings, Developer, API keys.",
        placeholder: "cal_…",
      },
    },
    optional: {
      apiUrl: { label: "Address of the API", placeholder: "https://api.cal.com" },
      webUrl: { label: "Address of its pages", placeholder: "https://app.cal.com" },
      apiVersion: {
        label: "API version",
        description: "A self-hosted Cal.com may need 2024-08-13.",
        placeholder: "2026-02-25",
      },
    },
  },
  calendly: {
    name: "Calendly",
    settings: {},
    credentials: {
      token: {
        label: "Personal access token",
        description: "In Calendly under Integrations & apps, API & webhooks.",
      },
    },
    optional: { apiUrl: { label: "Address of the API", placeholder: "https://api.calendly.com" } },
  },
};

export type ConnectionWords = {
  readonly name: string;
} & Readonly<Record<"settings" | "credentials" | "optional", readonly (Field & { name: FieldName })[]>>;

export function wordsOf(kind: ConnectionKind): ConnectionWords {
  const { name, settings, credentials, optional } = WORDS[kind];
  return { name, settings: list(settings), credentials: list(credentials), optional: list(optional) };
}

function list(fields: object): (Field & { name: FieldName })[] {
  return Object.entries(fields).map(([name, field]) => ({ name: name as FieldName, ...field }));
}

/** Why a system did not work the last time it was asked. */
export function describeLastError({ lastError, lastErrorStatus }: AppConnection): string {
  switch (lastError) {
    case null:
      return "";
    case "credentials":
      return "It does not accept the credentials, or they do not allow what is needed.";
    case "not_found":
      return "It does not know this business.";
    case "http_status":
      return `It answered ${lastErrorStatus}.`;
    case "unreadable":
      return "Its answer could not be understood.";
    case "too_large":
      return "Its answer was too large.";
    default:
      return `${FAILURE_WORDS[lastError]}.`;
  }
}
