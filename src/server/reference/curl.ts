import { toParameterExample } from "../../../test/support/schema-example.ts";
import type { Operation } from "./operations.ts";

/** A command to paste into a POSIX shell, a line for each header and parameter. */
export function toCurl(endpoint: Operation, serverUrl: string): string {
  const query = listExampleQuery(endpoint);
  const address = quote(`${serverUrl}${endpoint.address}`);
  const head = endpoint.method === "GET" ? (query.length > 0 ? "--get " : "") : `--request ${endpoint.method} `;
  return [
    `curl ${head}${address}`,
    `--header ${quote("Authorization: Bearer <API_KEY>")}`,
    ...query.map((pair) => `--data-urlencode ${quote(pair)}`),
  ].join(" \\\n  ");
}

function listExampleQuery({ parameters }: Operation): string[] {
  const seen = new Set<string>();
  return parameters.flatMap((parameter) => {
    const value = toParameterExample(parameter);
    if (parameter.in !== "query" || value === undefined) return [];
    // `until` with the same instant as `since` would ask for nothing: an optional value is shown once.
    if (seen.has(String(value)) && parameter.required !== true) return [];
    seen.add(String(value));
    return `${parameter.name}=${value}`;
  });
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
