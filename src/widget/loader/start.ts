import type { FromFrame, Theme } from "#contract/widgets/frame-messages.ts";
import { createAttribution } from "./attribution.ts";
import { openFrame, takeMessage, toLocale, type Wanted } from "./booking-frame.ts";
import type { ConsentChoice } from "./consent.ts";
import { guarded } from "./guarded.ts";
import { defineInlineElement } from "./inline-element.ts";
import { addHost, make } from "./make.ts";
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
    consent(choice: ConsentChoice) {
      site.attribution.decide(choice);
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

/** What the page at /button sends (src/server/embed/floating-button.ts). */
type Look = { label: string; lang: string; style: string };

/** Opens like any element with `data-svc-open`, and appears once it has its look. A label in the snippet comes first. */
function showFloatingButton({ base, widget }: Site, ownLabel?: string): HTMLElement {
  const button = make("button", { hidden: true });
  const iframe = make("iframe", { hidden: true, src: `${base}/button/${widget}?locale=${toLocale()}` });
  const host = addHost("float", button, iframe);
  host.dataset["svcOpen"] = widget;
  addEventListener(
    "message",
    guarded(({ source, data }: MessageEvent<Look>) => {
      if (source !== iframe.contentWindow) return;
      const { label, lang, style } = data;
      iframe.remove();
      button.style.cssText = style;
      Object.assign(button, { textContent: ownLabel || label, lang, hidden: false });
    }),
  );
  return host;
}

let closeOpen: (() => void) | undefined;

/** A native dialog. A click outside doesn't close it, because the visitor may have filled in the form. */
function openPopup(site: Site, wanted: Wanted, opener: Element | null): void {
  if (!wanted.widget) return;
  closeOpen?.();
  const frame = openFrame(site, wanted, close);
  const dialog = make("dialog", { ariaLabel: frame.title, onclose: close }, frame.element);
  const host = addHost("popup", dialog);
  const { style, clientWidth } = document.documentElement;
  const { overflow, scrollbarGutter } = style;
  // Keep the scroll position and the space of the scroll bar.
  Object.assign(style, { overflow: "hidden", scrollbarGutter: innerWidth > clientWidth ? "stable" : scrollbarGutter });
  closeOpen = close;
  dialog.showModal();

  function close(): void {
    if (closeOpen !== close) return;
    closeOpen = undefined;
    frame.close();
    host.remove();
    Object.assign(style, { overflow, scrollbarGutter });
    // Anything that was clicked or has the focus can get it back.
    (opener as HTMLElement | null)?.focus({ preventScroll: true });
    site.tell(wanted.widget, { type: "close" });
  }
}
