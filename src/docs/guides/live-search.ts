const PAUSE_MS = 120;
const QUERY_MIN = 2;

/** Shows the matches of the search page below the field while the reader types. Enter opens the search page itself. */
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
  let pause: ReturnType<typeof setTimeout> | undefined;
  input.addEventListener("input", () => {
    clearTimeout(pause);
    const query = input.value.trim();
    if (query.length < QUERY_MIN) return close();
    pause = setTimeout(async () => {
      const matches = await findMatches(form.action, query);
      // The reader has typed on, and newer matches are on their way.
      if (matches === null || input.value.trim() !== query) return;
      list.replaceChildren(...matches);
      list.hidden = matches.length === 0;
      status.textContent =
        matches.length === 0 ? "No matches" : `${matches.length} ${matches.length === 1 ? "match" : "matches"}`;
    }, PAUSE_MS);
  });

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

/** Null if the service did not answer; the reader can still press Enter. */
async function findMatches(action: string, query: string): Promise<Element[] | null> {
  try {
    const response = await fetch(`${action}?q=${encodeURIComponent(query)}`);
    if (!response.ok) return null;
    const found = new DOMParser().parseFromString(await response.text(), "text/html");
    return [...found.querySelectorAll(".matches > li")];
  } catch {
    return null;
  }
}
