import type { AppConnection } from "#contract/app/connections.ts";
import type { ConnectionKind } from "#contract/scheduling.ts";
import { type FieldName, wordsOf } from "./connection-words.ts";

/** All fields of all kinds in one record, with the field names of the server's errors. */
export type ConnectionValues = Record<FieldName, string> & { name: string };

const EMPTY: ConnectionValues = {
  name: "",
  tenantId: "",
  clientId: "",
  businessId: "",
  clientSecret: "",
  graphUrl: "",
  loginUrl: "",
  apiKey: "",
  apiUrl: "",
  webUrl: "",
  token: "",
  plan: "",
};

/** Settings are filled in, credentials never. */
export function toValues(connection: AppConnection | null): ConnectionValues {
  return connection ? { ...EMPTY, name: connection.name, ...connection.settings } : EMPTY;
}

export function toParts(kind: ConnectionKind, values: ConnectionValues) {
  const { settings, optional, credentials } = wordsOf(kind);
  const pick = (fields: readonly { name: FieldName }[]): Record<string, string> =>
    Object.fromEntries(fields.map(({ name }) => [name, values[name].trim()]));
  return { settings: pick([...settings, ...optional]), credentials: pick(credentials) };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** What is certainly wrong with a field, before the system is asked; null if nothing is. */
export function findFault(name: FieldName, values: ConnectionValues): string | null {
  const text = values[name].trim();
  if (text === "") return "Required.";
  switch (name) {
    case "clientId":
      return UUID.test(text) ? null : "This isn’t an application ID. Copy it from the Overview page.";
    case "tenantId":
      // A directory may also be named by its domain.
      return UUID.test(text) || text.includes(".")
        ? null
        : "This isn’t a directory ID. Copy it from the Overview page.";
    case "clientSecret":
      return UUID.test(text) ? "This is the Secret ID. Copy the Value beside it." : null;
    default:
      return null;
  }
}
