import { assert } from "../lib/assert.ts";

// The parts of an OpenAPI 3.1 document that the reference shows.

export type OpenApiDocument = {
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description?: string;
    readonly license?: { readonly name: string };
  };
  readonly servers?: readonly { readonly url: string }[];
  readonly paths?: Readonly<Record<string, PathItem>>;
  readonly webhooks?: Readonly<Record<string, PathItem>>;
  readonly components?: {
    readonly schemas?: Readonly<Record<string, Schema>>;
    readonly securitySchemes?: Readonly<Record<string, SecurityScheme>>;
  };
};

/** Operations by lower-case method. */
export type PathItem = Readonly<Record<string, PathOperation>>;

export type PathOperation = {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: Message | Reference;
  readonly responses?: Readonly<Record<string, Message | Reference>>;
};

export type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
  readonly example?: unknown;
};

/** A request body or an answer. */
export type Message = {
  readonly description?: string;
  readonly content?: Readonly<Record<string, { readonly schema?: Schema; readonly example?: unknown }>>;
};

export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
};

export type SecurityScheme = { readonly type: string; readonly scheme?: string; readonly description?: string };

type Reference = { readonly $ref: string };

/** Follows a reference into the same document. What stands beside `$ref`, a description say, wins over the target's. */
export function resolve<Node extends object>(document: OpenApiDocument, node: Node | Reference): Node {
  if (!("$ref" in node) || typeof node.$ref !== "string") return node as Node;
  const { $ref, ...beside } = node;
  assert($ref.startsWith("#/"), `reference outside the document: ${$ref}`);
  let target: unknown = document;
  for (const step of $ref.slice(2).split("/")) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    target = (target as Record<string, unknown> | undefined)?.[key];
  }
  assert(typeof target === "object" && target !== null, `reference to nothing: ${$ref}`);
  // What a reference in the place of a Node points to is a Node: that is what OpenAPI says of it.
  return { ...resolve(document, target as Node), ...beside };
}
