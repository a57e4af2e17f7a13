import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DOCS_ADDRESS } from "./docs-page.ts";
import { REFERENCE_ADDRESS } from "../reference/render-reference.ts";

// What is served at /docs, by what a reader wants to do. Files are named from the root of the program.

type Document = {
  readonly title: string;
  readonly address: string;
  /** What a reader wants who is looking for it; null for what is only looked up. */
  readonly wish: string | null;
  /** One sentence for the page that lists them all. */
  readonly purpose: string;
  /** Null for pages that are made from something else. */
  readonly file: string | null;
};

export type Shelf = { readonly title: string; readonly documents: readonly Document[] };

export const DECISIONS_ADDRESS = `${DOCS_ADDRESS}/decisions`;
const DECISIONS_FOLDER = "docs/decisions";

const guide = (file: string, about: { title: string; wish?: string; purpose: string }): Document => ({
  title: about.title,
  address: `${DOCS_ADDRESS}/${file
    .replace(/^docs\//, "")
    .replace(/\.md$/, "")
    .toLowerCase()}`,
  wish: about.wish ?? null,
  purpose: about.purpose,
  file,
});

const SHELVES: readonly Shelf[] = [
  {
    title: "Start",
    documents: [
      guide("docs/quick-start.md", {
        title: "Quick start",
        wish: "See it work",
        purpose: "From nothing to a booking and its webhook, on one machine, in minutes.",
      }),
      guide("docs/embedding.md", {
        title: "Embedding",
        wish: "Put a widget on a website",
        purpose: "In the page, as a popup or behind a button; consent and privacy.",
      }),
    ],
  },
  {
    title: "Build on it",
    documents: [
      guide("docs/read-api.md", {
        title: "Read API",
        wish: "Pull bookings and analytics",
        purpose: "On a schedule, by a REST API, and keep a copy in step.",
      }),
      guide("docs/webhooks.md", {
        title: "Webhooks",
        wish: "Receive every booking",
        purpose: "As signed JSON in your own program, or as a card in Teams or Slack.",
      }),
      guide("docs/client-library.md", {
        title: "Client library",
        wish: "Use JavaScript or TypeScript",
        purpose: "Read, sync and verify webhooks with a library without dependencies.",
      }),
      {
        title: "API reference",
        address: REFERENCE_ADDRESS,
        wish: null,
        purpose: "Every address, parameter, field and error.",
        file: null,
      },
    ],
  },
  {
    title: "Run it",
    documents: [
      guide("docs/operating.md", {
        title: "Operating",
        wish: "Run Bookflow",
        purpose: "Install, set, back up, upgrade, scale out and watch it; retention and security.",
      }),
      guide("docs/performance.md", {
        title: "Performance",
        purpose: "What was measured, and how to measure it again.",
      }),
      guide("CHANGELOG.md", { title: "Changelog", purpose: "What changed from version to version." }),
    ],
  },
  {
    title: "Look up",
    documents: [
      guide("docs/glossary.md", { title: "Glossary", purpose: "One word per idea." }),
      guide("docs/spec.md", { title: "Contract", purpose: "Names, formats, limits and rules, exactly." }),
      {
        title: "Decisions",
        address: DECISIONS_ADDRESS,
        wish: null,
        purpose: "Why things are as they are.",
        file: null,
      },
      guide("ARCHITECTURE.md", {
        title: "Architecture",
        purpose: "The picture, the map of the code, what must stay true.",
      }),
      guide("CONTRIBUTING.md", {
        title: "Contributing",
        purpose: "Set-up, checks and recipes for whoever changes the code.",
      }),
    ],
  },
];

/** Served as they are, beside everything in docs/ that is no Markdown. */
const BESIDE = [".env.example", "Dockerfile", "compose.yaml"];
const EXAMPLES_FOLDER = "sdk/examples";

/** Without what this installation does not hold. */
export function listShelves(root: string): Shelf[] {
  const isThere = ({ file }: Document) => file === null || existsSync(join(root, file));
  return SHELVES.map((shelf) => ({ ...shelf, documents: shelf.documents.filter(isThere) }));
}

/** By number. Their titles are in the files. */
export function listDecisions(root: string): { address: string; file: string }[] {
  return listFolder(join(root, DECISIONS_FOLDER))
    .filter((name) => name.endsWith(".md"))
    .sort()
    .map((name) => ({
      address: `${DECISIONS_ADDRESS}/${name.slice(0, -".md".length)}`,
      file: `${DECISIONS_FOLDER}/${name}`,
    }));
}

/** Images, samples and examples. */
export function listPlainFiles(root: string): { address: string; file: string }[] {
  const inDocs = listFolder(join(root, "docs")).filter((path) => /\.\w+$/.test(path) && !path.endsWith(".md"));
  const examples = listFolder(join(root, EXAMPLES_FOLDER)).map((name) => `${EXAMPLES_FOLDER}/${name}`);
  return [
    ...inDocs.map((path) => ({ address: `${DOCS_ADDRESS}/${path}`, file: `docs/${path}` })),
    ...[...BESIDE.filter((name) => existsSync(join(root, name))), ...examples].map((file) => ({
      address: `${DOCS_ADDRESS}/files/${file}`,
      file,
    })),
  ];
}

function listFolder(path: string): string[] {
  if (!existsSync(path)) return [];
  return readdirSync(path, { recursive: true, encoding: "utf8" }).map((name) => name.replaceAll("\\", "/"));
}
