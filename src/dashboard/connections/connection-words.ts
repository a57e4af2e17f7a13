import type { AppConnection, CONNECTION_FIELDS } from "#contract/app/connections.ts";
import type { CalendlyPlan, ConnectionKind } from "#contract/scheduling.ts";
import { FAILURE_WORDS } from "#contract/webhooks/delivery.ts";

// Names of the scheduling systems, and labels of their form fields.

type Field = {
  readonly label: string;
  readonly description?: string;
  readonly placeholder?: string;
  /** Values to choose from, with their labels; the first one is the default. */
  readonly options?: Readonly<Record<string, string>>;
};
type SettingsOf<Kind extends ConnectionKind> = (typeof CONNECTION_FIELDS)[Kind]["settings"][number];
type CredentialsOf<Kind extends ConnectionKind> = (typeof CONNECTION_FIELDS)[Kind]["credentials"][number];
type OptionalOf<Kind extends ConnectionKind> = (typeof CONNECTION_FIELDS)[Kind]["optional"][number];

type KindWords<Kind extends ConnectionKind> = {
  readonly name: string;
  readonly settings: Readonly<Record<Exclude<SettingsOf<Kind>, OptionalOf<Kind>>, Field>>;
  readonly credentials: Readonly<Record<CredentialsOf<Kind>, Field>>;
  /** Fields with a default, shown as placeholder. */
  readonly optional: Readonly<Record<OptionalOf<Kind>, Field>>;
};

export type FieldName = { [Kind in ConnectionKind]: SettingsOf<Kind> | CredentialsOf<Kind> }[ConnectionKind];

const WORDS: { readonly [Kind in ConnectionKind]: KindWords<Kind> } = {
  "microsoft-bookings": {
    name: "Microsoft Bookings",
    settings: {
      clientId: {
        label: "Application (client) ID",
        description: "Looks like 1a2b3c4d-0000-0000-0000-123456789abc.",
        placeholder: "00000000-0000-0000-0000-000000000000",
      },
      tenantId: {
        label: "Directory (tenant) ID",
        description: "Looks like 1a2b3c4d-0000-0000-0000-123456789abc.",
        placeholder: "00000000-0000-0000-0000-000000000000",
      },
      businessId: {
        label: "Booking page",
        description: "Email address of a shared booking page. Personal booking pages don’t work.",
        placeholder: "lindenhof@example.onmicrosoft.com",
      },
    },
    credentials: {
      clientSecret: {
        label: "Client secret",
        description: "The secret’s Value: about 40 characters. Not its Secret ID.",
      },
    },
    optional: {
      graphUrl: { label: "Microsoft Graph URL", placeholder: "https://graph.microsoft.com/v1.0" },
      loginUrl: { label: "Sign-in URL", placeholder: "https://login.microsoftonline.com" },
    },
  },
  calcom: {
    name: "Cal.com",
    settings: {},
    credentials: {
      apiKey: {
        label: "API key",
        description: "Starts with cal_.",
        placeholder: "cal_live_…",
      },
    },
    optional: {
      apiUrl: { label: "API URL", placeholder: "https://api.cal.com" },
      webUrl: { label: "Web app URL", placeholder: "https://app.cal.com" },
    },
  },
  calendly: {
    name: "Calendly",
    settings: {},
    credentials: {
      token: {
        label: "Personal access token",
        description: "A long string that starts with eyJ.",
      },
    },
    optional: {
      plan: {
        label: "Plan",
        description:
          "Calendly limits bookings to 5 per day on a trial (Bookflow assumes the same for the free plan), and to 10 per minute, 50 per hour and 100 per day on paid plans.",
        options: { paid: "Paid", trial: "Free or trial", enterprise: "Enterprise" } satisfies Record<
          CalendlyPlan,
          string
        >,
      },
      apiUrl: { label: "API URL", placeholder: "https://api.calendly.com" },
    },
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

export function describeLastError({ lastError, lastErrorStatus }: AppConnection): string {
  switch (lastError) {
    case null:
      return "";
    case "credentials":
      return "The credentials were rejected or lack permissions.";
    case "not_found":
      return "The booking page wasn’t found. Check its address in the settings.";
    case "http_status":
      return `The system returned HTTP ${lastErrorStatus}. Test the connection again. If it keeps failing, check the system’s status page.`;
    case "unreadable":
      return "The response couldn’t be read. Test the connection for details.";
    case "too_large":
      return "The response was too large. Test the connection for details.";
    default:
      return `${FAILURE_WORDS[lastError]}.`;
  }
}

/** "Potsdam (Cal.com)". If the name already contains the system, it is shown alone. */
export function toFullName({ name, kind }: Pick<AppConnection, "name" | "kind">): string {
  const system = wordsOf(kind).name;
  return name.includes(system) ? name : `${name} (${system})`;
}
