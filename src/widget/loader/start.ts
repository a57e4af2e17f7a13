import type { FromFrame, Theme } from "../messages.ts";
import { createAttribution } from "./attribution.ts";
import { takeMessage, type Wanted } from "./booking-frame.ts";
import type { ConsentAnswer } from "./consent.ts";
import { showFloatingButton } from "./floating-button.ts";
import { guarded } from "./guarded.ts";
import { defineInlineElement } from "./inline-element.ts";
import { openPopup } from "./popup.ts";
import type { Site } from "./site.ts";

type Listener = (details: object) => void;
/** The page owner's stub, which has queued the arguments of each call in `svc.q`. */
type Stub = { q?: Iterable<unknown>[] };

/** Everything the loader does on a page, in this order. */
export function startLoader(script: HTMLScriptElement): void {
  const { widget: ownWidget = "", consent, mode, label } = script.dataset;
  // What the page may have beside the browser's own; all of it is checked before use.
  const page = window as { svc?: unknown; dataLayer?: unknown[]; navigation?: EventTarget };
  const listeners: [string, Listener][] = [];
  const site: Site = {
    base: new URL(script.src).origin,
    widget: ownWidget,
    attribution: createAttribution(consent, new Date()),
    theme: {},
    tell,
  };
  // This comes first, because a second loader recognises the first by it.
  defineInlineElement(site);
  const updateFrames = guarded(() => takeMessage());
  const button = mode === "float" ? showFloatingButton(site, label) : undefined;

  const commands: Record<string, ((first: never, second: never) => void) | undefined> = {
    open: (wanted: Partial<Wanted> = {}) => openPopup(site, { widget: site.widget, ...wanted }, document.activeElement),
    consent(answer: ConsentAnswer) {
      site.attribution.decide(answer);
      updateFrames();
    },
    theme(theme: Theme) {
      site.theme = { ...site.theme, ...theme };
      button?.style.setProperty("--accent", site.theme.accent ?? "");
      updateFrames();
    },
    on: (name: string, listener: Listener) => listeners.push([name, listener]),
  };
  // Pages can pass anything. A command that gets something wrong throws, and nothing happens.
  const run = guarded((...[name, first, second]: unknown[]) =>
    commands[name as string]?.(first as never, second as never),
  );
  const { svc } = page;
  const queue = (svc as Stub | undefined)?.q;
  // A `svc` that is not ours belongs to someone else, so it stays. `test` makes a text of anything.
  if (!svc || queue || /\.q\b/.test(svc as string)) {
    page.svc = run;
    for (const call of queue ?? []) run(...call);
  }
  // Without an answer: decides by what is known.
  run("consent");

  addEventListener("message", guarded(takeMessage));
  document.addEventListener("click", guarded(openFromClick), true);
  // For pages that change their address without reloading. In browsers without this event, the frame's next step
  // notices the change.
  page.navigation?.addEventListener("navigatesuccess", updateFrames);

  /** Calls each listener separately, so that an error in one stops neither us nor the others. */
  function tell(widget: string, message: FromFrame): void {
    const { type, ...details } = { ...message, widget };
    for (const [name, listener] of listeners) if (name === type) setTimeout(() => listener(details));
    if (script.dataset["datalayer"] == null) return;
    page.dataLayer ??= [];
    page.dataLayer.push({ event: `svc_${type}`, ...details });
  }

  /** Also works for elements added later and elements in shadow roots. A link's address is where visitors go if the popup doesn't load. */
  function openFromClick(click: MouseEvent): void {
    // Documents and windows have no dataset.
    const path = click.composedPath() as HTMLAnchorElement[];
    const opener = path.find((element) => element.dataset?.["svcOpen"] != null);
    if (!opener || click.ctrlKey || click.metaKey || click.shiftKey) return;
    click.preventDefault();
    const { dataset, href: fallback } = opener;
    openPopup(site, { widget: dataset["svcOpen"] || ownWidget, service: dataset["svcService"], fallback }, opener);
  }
}
