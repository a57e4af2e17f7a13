import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

// Everything served at /docs, grouped by who reads it. Files are named relative to the root of the program.

export const DOCS_ADDRESS = "/docs";
export const REFERENCE_ADDRESS = `${DOCS_ADDRESS}/api`;
export const DECISIONS_ADDRESS = `${DOCS_ADDRESS}/decisions`;
const DECISIONS_FOLDER = "docs/decisions";

export type Document = {
  readonly title: string;
  readonly address: string;
  /** One sentence for the overview. */
  readonly purpose: string;
  /** Null for pages that are not a Markdown file. */
  readonly file: string | null;
};

/** The readers of one section see only its documents in their menu. */
export type Section = {
  readonly title: string;
  readonly purpose: string;
  /** People who use this Bookflow, and not those who run or change it. Their guides come first in a search. */
  readonly isForCustomers: boolean;
  readonly documents: readonly Document[];
};

const guide = (file: string, { title, purpose }: { title: string; purpose: string }): Document => ({
  title,
  address: `${DOCS_ADDRESS}/${file
    .replace(/^docs\//, "")
    .replace(/\.md$/, "")
    .toLowerCase()}`,
  purpose,
  file,
});

const SECTIONS: readonly Section[] = [
  {
    title: "Site owners",
    purpose: "Put a booking widget on your site, and see which channels bring bookings.",
    isForCustomers: true,
    documents: [
      guide("docs/quick-start.md", {
        title: "Quick start",
        purpose: "Install Bookflow, make a booking and receive its webhook, in five minutes.",
      }),
      guide("docs/embedding.md", {
        title: "Embed a widget",
        purpose: "Show it in the page, as a popup or behind a button. Covers consent and privacy.",
      }),
      guide("docs/scheduling-systems.md", {
        title: "Scheduling systems",
        purpose: "Connect Microsoft Bookings, Cal.com or Calendly: what works, permissions and limits.",
      }),
      guide("docs/analytics.md", {
        title: "Analytics",
        purpose: "What every number means, tagging links, filters, reports and exports.",
      }),
      guide("docs/bookings.md", {
        title: "Bookings, people and plans",
        purpose: "What is stored about customers, what each role can do, and what each plan includes.",
      }),
    ],
  },
  {
    title: "Developers",
    purpose: "Send bookings to your own systems.",
    isForCustomers: true,
    documents: [
      guide("docs/webhooks.md", {
        title: "Webhooks",
        purpose: "Receive every booking as signed JSON, or as a card in Teams or Slack.",
      }),
      guide("docs/read-api.md", {
        title: "Read API",
        purpose: "Pull bookings and analytics on a schedule and keep a copy in sync.",
      }),
      guide("docs/management-api.md", {
        title: "Management API",
        purpose: "Set up widgets, webhooks, keys and connections from your own software.",
      }),
      guide("docs/assistants.md", {
        title: "Assistants",
        purpose: "Let Claude, ChatGPT or Copilot answer questions about your bookings.",
      }),
      guide("docs/client-library.md", {
        title: "Client library",
        purpose: "Read, sync and verify webhooks from JavaScript or TypeScript.",
      }),
      {
        title: "API reference",
        address: REFERENCE_ADDRESS,
        purpose: "Every endpoint, parameter, field and error code.",
        file: null,
      },
      guide("docs/spec.md", { title: "Contract", purpose: "Names, formats, limits and rules, in full." }),
    ],
  },
  {
    title: "Operators",
    purpose: "Run Bookflow on your own servers.",
    isForCustomers: false,
    documents: [
      guide("docs/operating.md", {
        title: "Install and run",
        purpose: "Installing, the checklist before you go live, proxies, sign-in, several processes.",
      }),
      guide("docs/settings.md", { title: "Settings", purpose: "Every setting, its default and its range." }),
      guide("docs/backup.md", { title: "Database and backup", purpose: "Back up, restore and upgrade." }),
      guide("docs/monitoring.md", {
        title: "Monitoring",
        purpose: "Health, alerts, every log event and every metric.",
      }),
      guide("docs/security.md", {
        title: "Security and erasure",
        purpose: "Who can access what, retention, and erasing a customer.",
      }),
      guide("docs/exports.md", {
        title: "Exports",
        purpose: "Write bookings and daily totals as files for a warehouse, by hand or every night.",
      }),
      guide("docs/imports.md", { title: "Imports", purpose: "Bring bookings and visits from another system." }),
      guide("docs/capacity.md", { title: "Capacity", purpose: "What one server handles, and what to add next." }),
      guide("docs/scale.md", { title: "Scale", purpose: "Organizations on several database servers with Citus." }),
      guide("CHANGELOG.md", { title: "Changelog", purpose: "What changed in each version, and what to do." }),
    ],
  },
  {
    title: "Contributors",
    purpose: "Change Bookflow itself.",
    isForCustomers: false,
    documents: [
      guide("CONTRIBUTING.md", { title: "Contributing", purpose: "Setup, checks and recipes for common changes." }),
      guide("ARCHITECTURE.md", {
        title: "Architecture",
        purpose: "How the parts fit together, where the code is, and what must stay true.",
      }),
      guide("docs/glossary.md", { title: "Glossary", purpose: "Bookflow's words, one per idea." }),
      guide("docs/reliability.md", {
        title: "Reliability",
        purpose: "Faults that Bookflow survives, and how to try them.",
      }),
      guide("docs/performance.md", { title: "Performance", purpose: "Measurements, and how to repeat them." }),
      guide("docs/scale-measurements.md", {
        title: "Scale measurements",
        purpose: "Faults, moves and costs on several database servers.",
      }),
      {
        title: "Decisions",
        address: DECISIONS_ADDRESS,
        purpose: "Why things are the way they are.",
        file: null,
      },
    ],
  },
];

/** Files outside docs/ that documents link to. */
const LINKED_FILES = [".env.example", "Dockerfile", "compose.yaml"];
const EXAMPLES_FOLDER = "sdk/examples";

/** Leaves out documents that this installation doesn't include. */
export function listSections(root: string): Section[] {
  const isThere = ({ file }: Document) => file === null || existsSync(join(root, file));
  return SECTIONS.map((section) => ({ ...section, documents: section.documents.filter(isThere) }));
}

/** In order of their numbers. Their titles are in the files. */
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
    ...[...LINKED_FILES.filter((name) => existsSync(join(root, name))), ...examples].map((file) => ({
      address: `${DOCS_ADDRESS}/files/${file}`,
      file,
    })),
  ];
}

function listFolder(path: string): string[] {
  if (!existsSync(path)) return [];
  return readdirSync(path, { recursive: true, encoding: "utf8" }).map((name) => name.replaceAll("\\", "/"));
}
