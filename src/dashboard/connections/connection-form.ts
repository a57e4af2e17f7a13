import type { AppConnection } from "#contract/app/connections.ts";
import type { ConnectionKind } from "#contract/scheduling.ts";
import { type FieldName, wordsOf } from "./connection-words.ts";

/** A connection's form: all its fields in one record, under the names the server refuses them by. */
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
};

/** Settings are shown again, credentials never. */
export function toValues(connection: AppConnection | null): ConnectionValues {
  return connection ? { ...EMPTY, name: connection.name, ...connection.settings } : EMPTY;
}

/** What of the form belongs to this kind of system. */
export function toParts(kind: ConnectionKind, values: ConnectionValues) {
  const { settings, optional, credentials } = wordsOf(kind);
  const pick = (fields: readonly { name: FieldName }[]): Record<string, string> =>
    Object.fromEntries(fields.map(({ name }) => [name, values[name].trim()]));
  return { settings: pick([...settings, ...optional]), credentials: pick(credentials) };
}
