import { PASSAGES_ADDRESS } from "#contract/docs-search.ts";
import type { Match } from "./search.ts";

const PAUSE_MS = 120;
const QUERY_MIN = 2;

/** Shows the matches below the field while the reader types. Enter opens the first one. */
export function showMatchesWhileTyping(page: Document): void {
  const form = page.querySelector<HTMLFormElement>("form.search");
  const input = form?.querySelector("input");
  if (!form || !input) return;
  const list = page.createElement("ul");
  list.className = "live";
  list.hidden = true;
  const status = page.createElement("p");
  status.className = "unseen";
  status.setAttribute("role", "status");
  form.append(list, status);

  const close = () => {
    list.hidden = true;
    status.textContent = "";
  };
  const show = async () => {
    const query = input.value.trim();
    if (query.length < QUERY_MIN) return close();
    const matches = await findMatches(query);
    // The reader has typed on, and newer matches are on their way.
    if (input.value.trim() !== query) return;
    const summary = toSummary(matches);
    list.replaceChildren(
      ...(matches?.length
        ? matches.map((match) => toItem(page, match))
        : [toElement(page, { tag: "li", children: [summary] })]),
    );
    list.hidden = false;
    status.textContent = summary;
  };
  let pause: ReturnType<typeof setTimeout> | undefined;
  input.addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(show, PAUSE_MS);
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    clearTimeout(pause);
    await show();
    list.querySelector("a")?.click();
  });
  listenForKeys(page, { form, input, list, close });
}

function listenForKeys(
  page: Document,
  {
    form,
    input,
    list,
    close,
  }: { form: HTMLFormElement; input: HTMLInputElement; list: HTMLUListElement; close: () => void },
): void {
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !list.hidden) {
      close();
      input.focus();
      event.preventDefault();
    }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const stops = [input, ...list.querySelectorAll("a")];
    const from = stops.indexOf(page.activeElement as HTMLInputElement);
    stops[from + (event.key === "ArrowDown" ? 1 : -1)]?.focus();
    event.preventDefault();
  });
  form.addEventListener("focusout", ({ relatedTarget }) => {
    if (!form.contains(relatedTarget as Node | null)) close();
  });
  // A match on this very page changes only the hash.
  list.addEventListener("click", close);

  page.addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof HTMLElement && event.target.closest("input, textarea, select");
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    input.focus();
    event.preventDefault();
  });
}

let search: Promise<(query: string) => Match[]> | null = null;

/** Null if the passages could not be loaded; the next query tries again. */
async function findMatches(query: string): Promise<Match[] | null> {
  search ??= loadSearch();
  try {
    return (await search)(query);
  } catch {
    search = null;
    return null;
  }
}

async function loadSearch(): Promise<(query: string) => Match[]> {
  const [{ openSearch }, response] = await Promise.all([import("./search.ts"), fetch(PASSAGES_ADDRESS)]);
  if (!response.ok) throw new Error(`The passages were answered with ${response.status}`);
  return openSearch(await response.json());
}

function toSummary(matches: Match[] | null): string {
  if (matches === null) return "The search couldn't be loaded. Try again.";
  if (matches.length === 0) return "No matches";
  return `${matches.length} ${matches.length === 1 ? "match" : "matches"}`;
}

function toItem(page: Document, { address, guide, heading, excerpt }: Match): HTMLElement {
  const title = toElement(page, { tag: "strong", children: [heading] });
  const place = guide === heading ? [] : [" ", toElement(page, { tag: "span", children: [guide] })];
  const link = Object.assign(page.createElement("a"), { href: address });
  link.append(title, ...place);
  return toElement(page, { tag: "li", children: [link, toElement(page, { tag: "p", children: [excerpt] })] });
}

function toElement(page: Document, { tag, children }: { tag: string; children: (Node | string)[] }): HTMLElement {
  const element = page.createElement(tag);
  element.append(...children);
  return element;
}
