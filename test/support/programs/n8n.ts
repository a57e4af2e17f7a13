import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";

// What n8n does with the package in connectors/n8n, as n8n documents it: installs the packed file, loads the classes that package.json
// names, keeps a node's static data, sends requests with the credentials, and receives webhooks. n8n itself is too large for our tests.

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/** What n8n provides as n8n-workflow, as far as the package uses it at run time. */
const N8N_WORKFLOW = `exports.NodeConnectionTypes = { Main: "main" };
exports.NodeApiError = class NodeApiError extends Error {
  constructor(node, { message, httpCode, description }, options) {
    super(message);
    Object.assign(this, { httpCode, description, ...options });
  }
};`;

type Fields = Record<string, unknown>;
type Context = Fields & { helpers: Fields };
type Method<Result> = (this: Context) => Promise<Result>;
type Hooks = Record<"checkExists" | "create" | "delete", Method<boolean>>;
type Item = { json: Fields; pairedItem?: { item: number } };
type Property = { name: string; default: unknown; options?: Property[] };
type N8nNode = {
  description: Fields & { name: string; icon: string; properties: Property[] };
  methods: { loadOptions: { listWidgets: Method<{ name: string; value: string }[]> } };
};
export type ActionNode = N8nNode & { execute: Method<Item[][]> };
export type TriggerNode = N8nNode & {
  webhookMethods: { default: Hooks };
  webhook: Method<{ workflowData?: Item[][]; noWebhookResponse?: boolean }>;
};
type Credential = Fields & {
  authenticate: { properties: { headers: Record<string, string> } };
  test: { request: { baseURL: string; url: string } };
};
export type Credentials = { baseUrl: string; apiKey: string };
type Request = { url: string; method?: string; qs?: Fields; body?: object };

export type InstalledPackage = {
  files: readonly string[];
  manifest: Fields & { n8n: { nodes: string[]; credentials: string[] } };
  folder: string;
  credential: Credential;
  action: ActionNode;
  trigger: TriggerNode;
};

export function installN8nPackage(): InstalledPackage {
  const home = mkdtempSync(join(tmpdir(), "bookflow-n8n-"));
  after(() => rmSync(home, { recursive: true, force: true }));
  const source = join(home, "connectors/n8n");
  cpSync(join(ROOT, "connectors/n8n"), source, { recursive: true, filter: (path) => basename(path) !== "dist" });
  for (const name of ["tsconfig.json", "tsconfig.n8n.json"]) cpSync(join(ROOT, name), join(home, name));
  symlinkSync(join(ROOT, "node_modules"), join(home, "node_modules"), "dir");
  const npm = (folder: string, ...args: string[]) =>
    execFileSync("npm", [...args, "--no-audit", "--no-fund", "--loglevel=error", `--cache=${home}/cache`], {
      cwd: folder,
      encoding: "utf8",
    });
  npm(source, "run", "build", "--silent");
  const [packed] = JSON.parse(npm(source, "pack", "--json", `--pack-destination=${home}`)) as {
    filename: string;
    files: { path: string }[];
  }[];
  const nodes = join(home, "nodes");
  mkdirSync(join(nodes, "node_modules/n8n-workflow"), { recursive: true });
  writeFileSync(join(nodes, "package.json"), '{ "private": true }');
  npm(
    nodes,
    "install",
    "--offline",
    "--omit=peer",
    "--legacy-peer-deps",
    "--ignore-scripts",
    join(home, packed?.filename ?? ""),
  );
  mkdirSync(join(nodes, "node_modules/n8n-workflow"), { recursive: true });
  writeFileSync(join(nodes, "node_modules/n8n-workflow/index.js"), N8N_WORKFLOW);
  const folder = join(nodes, "node_modules/n8n-nodes-bookflow");
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const require = createRequire(join(folder, "package.json"));
  // As n8n does: the class is named like the file.
  const load = (path: string) => new (require(`./${path}`)[basename(path).split(".")[0] ?? ""])();
  const [action, trigger] = manifest.n8n.nodes.map(load);
  const files = packed?.files.map(({ path }) => path).sort() ?? [];
  return { files, manifest, folder, credential: load(manifest.n8n.credentials[0]), action, trigger };
}

/** Expressions between braces, with what they may name. */
function resolve(text: string, credentials: Credentials): string {
  return text
    .replace(/^=/, "")
    .replaceAll(/\{\{(.*?)\}\}/g, (_, code: string) => new Function("$credentials", `return ${code}`)(credentials));
}

export class N8n {
  readonly #package: InstalledPackage;
  readonly #credentials: Credentials;
  /** Of the trigger, as n8n stores it. */
  staticData: Fields = {};
  continuesOnFail = false;

  constructor(installed: InstalledPackage, credentials: Credentials) {
    this.#package = installed;
    this.#credentials = credentials;
  }

  /** The button "Test" of the credentials. */
  async testCredentials(): Promise<number> {
    const { baseURL, url } = this.#package.credential.test.request;
    const headers = this.#headers();
    return (await fetch(resolve(baseURL, this.#credentials) + url, { headers })).status;
  }

  async runHook(name: keyof Hooks, url: string, parameters: Fields = {}): Promise<boolean> {
    const { description, webhookMethods } = this.#package.trigger;
    const context = { ...this.#context(description, parameters), getNodeWebhookUrl: () => url };
    return await webhookMethods.default[name].call(context);
  }

  /** Turning a workflow on: n8n creates the webhook if it doesn't exist. */
  async activate(url: string, parameters: Fields = {}): Promise<void> {
    if (!(await this.runHook("checkExists", url, parameters))) await this.runHook("create", url, parameters);
  }

  async listWidgets() {
    const { description, methods } = this.#package.trigger;
    return await methods.loadOptions.listWidgets.call(this.#context(description, {}));
  }

  /** Runs the node Bookflow, once for each item. */
  async execute(...items: Fields[]): Promise<Item[]> {
    const { action } = this.#package;
    const context = {
      ...this.#context(action.description, ...items),
      getInputData: () => items.map((json) => ({ json })),
      continueOnFail: () => this.continuesOnFail,
      getNode: () => ({ name: "Bookflow" }),
    };
    const [results = []] = await action.execute.call(context);
    return results;
  }

  /** n8n's own web server, for the address of one trigger. `started` has the items of each workflow that was started. */
  async listen(): Promise<{ url: string; started: Fields[][] }> {
    const started: Fields[][] = [];
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const rawBody = Buffer.concat(chunks);
      const reply = (status: number, body: unknown) => response.writeHead(status).end(JSON.stringify(body));
      const context = {
        getWorkflowStaticData: () => this.staticData,
        getRequestObject: () => ({ rawBody }),
        getHeaderData: () => request.headers,
        getBodyData: () => JSON.parse(rawBody.toString()),
        getResponseObject: () => ({ status: (code: number) => ({ json: (body: unknown) => reply(code, body) }) }),
        helpers: { returnJsonArray: (items: Fields[]) => items.map((json) => ({ json })) },
      };
      const { workflowData, noWebhookResponse } = await this.#package.trigger.webhook.call(context);
      for (const items of workflowData ?? []) started.push(items.map(({ json }) => json));
      if (!noWebhookResponse) reply(200, { message: "Workflow was started" });
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    after(() => server.close());
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook/1/webhook`, started };
  }

  #context({ properties }: N8nNode["description"], ...items: Fields[]): Context {
    const defaultOf = (name: string) => properties.find((property) => property.name === name)?.default;
    return {
      getCredentials: async () => this.#credentials,
      getWorkflowStaticData: () => this.staticData,
      getNodeParameter: (name: string, item = 0, fallback?: unknown) =>
        items[item]?.[name] ?? fallback ?? defaultOf(name),
      helpers: { httpRequestWithAuthentication: async (_name: string, request: Request) => await this.#send(request) },
    };
  }

  async #send({ url, method, qs = {}, body }: Request): Promise<unknown> {
    const address = new URL(url);
    for (const [name, value] of Object.entries(qs)) address.searchParams.set(name, String(value));
    const headers = { ...this.#headers(), ...(body && { "content-type": "application/json" }) };
    const response = await fetch(address, { method, headers, body: body && JSON.stringify(body) } as RequestInit);
    const text = await response.text();
    if (response.ok) return text === "" ? "" : JSON.parse(text);
    const details = { httpCode: String(response.status), description: JSON.parse(text).error.message };
    throw Object.assign(new Error("The request failed"), details);
  }

  #headers(): Record<string, string> {
    const { headers } = this.#package.credential.authenticate.properties;
    return Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, resolve(text, this.#credentials)]));
  }
}
