import {
  type Message,
  type OpenApiDocument,
  type Parameter,
  type PathItem,
  type PathOperation,
  resolve,
  type Schema,
} from "./openapi-document.ts";

// The document's operations, laid flat for showing: references followed, error codes taken out of the descriptions.

export type Operation = {
  /** The anchor of the operation, unique on the page. */
  readonly anchor: string;
  readonly method: string;
  /** The path of an endpoint, the name of a webhook. */
  readonly address: string;
  readonly title: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly body: Content | null;
  readonly answers: readonly Answer[];
};

export type Answer = {
  readonly status: string;
  readonly code: string | null;
  readonly meaning: string;
  readonly content: Content | null;
};

export type Content = { readonly schema: Schema; readonly example: unknown };

/** One way to fail, with what it means for each of the operations that can fail so. */
type Failure = {
  readonly anchor: string;
  readonly status: string;
  readonly code: string | null;
  readonly meanings: readonly string[];
};

export function listEndpoints(document: OpenApiDocument): Operation[] {
  return listOperations(document, document.paths ?? {}, "endpoint");
}

export function listWebhooks(document: OpenApiDocument): Operation[] {
  return listOperations(document, document.webhooks ?? {}, "webhook");
}

export function listFailures(endpoints: readonly Operation[]): Failure[] {
  const failures = new Map<string, Failure>();
  for (const answer of endpoints.flatMap((endpoint) => endpoint.answers.filter(isFailure))) {
    const anchor = toFailureAnchor(answer);
    const known = failures.get(anchor)?.meanings ?? [];
    const meanings = known.includes(answer.meaning) ? known : [...known, answer.meaning];
    failures.set(anchor, { anchor, status: answer.status, code: answer.code, meanings });
  }
  return [...failures.values()].sort(byStatus);
}

export function isFailure(answer: Answer): boolean {
  return /^[45]/.test(answer.status);
}

export function toFailureAnchor({ status, code }: Pick<Answer, "status" | "code">): string {
  return toAnchor("error", code === null ? status : `${status}-${code}`);
}

/** Nothing but letters, digits and a few marks that need no escaping in a link. */
export function toAnchor(kind: string, name: string): string {
  return `${kind}-${name.replace(/[^A-Za-z0-9_.]+/g, "-")}`;
}

const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

type Kind = "endpoint" | "webhook";

function listOperations(document: OpenApiDocument, items: Readonly<Record<string, PathItem>>, kind: Kind): Operation[] {
  return Object.entries(items).flatMap(([address, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : toOperation(document, { kind, method, address, operation });
    }),
  );
}

function toOperation(
  document: OpenApiDocument,
  { kind, method, address, operation }: { kind: Kind; method: string; address: string; operation: PathOperation },
): Operation {
  const { operationId, summary, description, parameters, requestBody, responses } = operation;
  return {
    anchor: toAnchor(kind, operationId ?? `${method}-${address}`),
    method: method.toUpperCase(),
    address,
    title: summary ?? address,
    description: description ?? "",
    parameters: (parameters ?? []).map((parameter) => resolve(document, parameter)),
    body: requestBody === undefined ? null : toContent(resolve(document, requestBody)),
    answers: Object.entries(responses ?? {})
      .map(([status, answer]) => toAnswer({ kind, status, message: resolve(document, answer) }))
      .sort(byStatus),
  };
}

/**
 * The description of a failure of ours starts with its code: "`bad_request`: a parameter is invalid." What a receiver
 * answers to a webhook has no code.
 */
function toAnswer({ kind, status, message }: { kind: Kind; status: string; message: Message }): Answer {
  const description = message.description ?? "";
  const [, code, rest] = (kind === "endpoint" && /^`([a-z][a-z0-9_]*)`:\s*(.*)$/s.exec(description)) || [];
  const meaning = rest ?? description;
  return {
    status,
    code: code ?? null,
    meaning: meaning.charAt(0).toUpperCase() + meaning.slice(1),
    content: toContent(message),
  };
}

/** Every message of ours has one media type, JSON. */
function toContent({ content }: Message): Content | null {
  const [first] = Object.values(content ?? {});
  return first === undefined ? null : { schema: first.schema ?? {}, example: first.example };
}

/** As text: `2XX` before `410`, and `default` last. */
function byStatus(a: { status: string }, b: { status: string }): number {
  return a.status.localeCompare(b.status);
}
