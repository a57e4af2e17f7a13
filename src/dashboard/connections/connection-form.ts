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
  apiVersion: "",
  token: "",
  plan: "",
};

/** Settings are filled in, credentials never. */
export function toValues(connection: AppConnection | null): ConnectionValues {
  return connection ? { ...EMPTY, name: connection.name, ...connection.settings } : EMPTY;
}

/** The fields that belong to this kind of system. */
export function toParts(kind: ConnectionKind, values: ConnectionValues) {
  const { settings, optional, credentials } = wordsOf(kind);
  const pick = (fields: readonly { name: FieldName }[]): Record<string, string> =>
    Object.fromEntries(fields.map(({ name }) => [name, values[name].trim()]));
  return { settings: pick([...settings, ...optional]), credentials: pick(credentials) };
}
