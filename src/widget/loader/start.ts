import type { FromFrame, Theme } from "../messages.ts";
import { createAttribution } from "./attribution.ts";
import { takeMessage, toLocale, type Wanted } from "./booking-frame.ts";
import type { ConsentAnswer } from "./consent.ts";
import { showFloatingButton } from "./floating-button.ts";
import { guarded } from "./guarded.ts";
import { defineInlineElement } from "./inline-element.ts";
import { openPopup } from "./popup.ts";
import type { Site } from "./site.ts";
import { findTexts } from "./texts.ts";

type Listener = (about: object) => void;
/** What the page owner's stub has kept until now: `svc.q` holds the arguments of each call. */
type Stub = { q?: Iterable<unknown>[] };

/** Everything the loader does on a page, in order. */
export function startLoader(script: HTMLScriptElement): void {
  const { widget: ownWidget = "", consent = "", mode, label } = script.dataset;
  const page = window as { svc?: unknown; dataLayer?: unknown[]; navigation?: EventTarget };
  const listeners: [string, Listener][] = [];
  const site: Site = {
    base: new URL(script.src).origin,
    widget: ownWidget,
    attribution: createAttribution(consent, new Date(Date.now())),
    theme: {},
    tell,
  };
  // First, because it is also how a second loader knows of the first.
  defineInlineElement(site);
  const updateFrames = guarded(() => takeMessage());
  const button = mode === "float" ? showFloatingButton(ownWidget, label || findTexts(toLocale()).title) : undefined;

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
  const run = guarded((...[name, first, second]: unknown[]) =>
    commands[name as string]?.(first as never, second as never),
  );
  const { svc } = page;
  const queue = (svc as Stub | undefined)?.q;
  // What is neither ours nor absent belongs to somebody else, and stays.
  if (!svc || queue || /\.q\b/.test(String(svc))) {
    page.svc = run;
    for (const call of queue ?? []) run(...call);
  }
  site.attribution.decide();
  updateFrames();

  addEventListener("message", guarded(takeMessage));
  document.addEventListener("click", guarded(openFromClick), true);
  // For pages that change their address without being loaded anew. Where browsers do not tell, the frame's next step does.
  page.navigation?.addEventListener("navigatesuccess", updateFrames);

  /** Each listener is called on its own: what it throws is the page's, and stops neither us nor the next one. */
  function tell(widget: string, message: FromFrame): void {
    const { type, ...about } = { ...message, widget };
    for (const [name, listener] of listeners) if (name === type) setTimeout(() => listener(about));
    if (script.dataset["datalayer"] == null) return;
    page.dataLayer ??= [];
    page.dataLayer.push({ event: `svc_${type}`, ...about });
  }

  /** Also for elements that were added later, or stand in the shadow of others. */
  function openFromClick(click: MouseEvent): void {
    const path = click.composedPath() as HTMLElement[];
    const opener = path.find((element) => element.dataset?.["svcOpen"] != null);
    if (!opener || click.ctrlKey || click.metaKey || click.shiftKey) return;
    click.preventDefault();
    const { svcOpen, svcService } = opener.dataset;
    openPopup(site, { widget: svcOpen || ownWidget, service: svcService }, opener);
  }
}
