import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createContext, runInContext } from "node:vm";

// Runs functions of connectors/google-sheets/Code.gs in a process of its own, since Google's UrlFetchApp waits for its answer. The job is
// in the argument, the outcome on standard output. Requests are real; the rest of Google is as small as the script needs it.

type Job = { properties: Record<string, string>; calls: readonly { name: string; request?: object }[] };
type Options = { headers: Record<string, string> };

const FETCH = `const [url, headers] = process.argv.slice(1);
const answer = await fetch(url, { headers: JSON.parse(headers), redirect: "manual" });
process.stdout.write(JSON.stringify({ status: answer.status, text: await answer.text() }));`;

function fetchSync(url: string, { headers }: Options) {
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", FETCH, url, JSON.stringify(headers)]);
  const { status, text } = JSON.parse(stdout.toString()) as { status: number; text: string };
  return { getResponseCode: () => status, getContentText: () => text };
}

function run({ properties, calls }: Job): unknown {
  const kept = new Map(Object.entries(properties));
  const sheets: Record<string, unknown[][]> = {};
  const toSheet = (name: string) => ({
    clearContents: () => {
      sheets[name] = [];
    },
    getRange: () => ({
      setValues: (values: unknown[][]) => {
        sheets[name] = values;
      },
    }),
  });
  const context = createContext({
    UrlFetchApp: { fetch: fetchSync },
    PropertiesService: {
      getUserProperties: () => ({
        getProperty: (name: string) => kept.get(name) ?? null,
        setProperties: (values: Record<string, string>) => {
          for (const [name, value] of Object.entries(values)) kept.set(name, value);
        },
        deleteAllProperties: () => kept.clear(),
      }),
    },
    DataStudioApp: {
      createCommunityConnector: () => ({
        newUserError: () => ({
          setText: (shown: string) => ({
            throwException: () => {
              throw new Error(`Shown: ${shown}`);
            },
          }),
        }),
      }),
    },
    SpreadsheetApp: {
      getActiveSpreadsheet: () => ({
        getSheetByName: (name: string) => (sheets[name] ? toSheet(name) : null),
        insertSheet: toSheet,
      }),
    },
  });
  runInContext(readFileSync(new URL("../../../connectors/google-sheets/Code.gs", import.meta.url), "utf8"), context);
  const results = calls.map(({ name, request }) => {
    try {
      return runInContext(`${name}(${request === undefined ? "" : JSON.stringify(request)})`, context) ?? null;
    } catch (error) {
      return { thrown: (error as Error).message };
    }
  });
  return { results, sheets, properties: Object.fromEntries(kept) };
}

process.stdout.write(JSON.stringify(run(JSON.parse(process.argv[2] ?? "{}"))));
