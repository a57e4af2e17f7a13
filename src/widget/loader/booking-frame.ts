import {
  type Envelope,
  type FromFrame,
  type FromLoader,
  MESSAGE_VERSION,
  type Prefill,
} from "#contract/widgets/frame-messages.ts";
import { make } from "./make.ts";
import type { Site } from "./site.ts";
import { findTexts } from "./texts.ts";

export type Wanted = {
  widget: string;
  service?: string | undefined;
  locale?: string | undefined;
  prefill?: Prefill | undefined;
  /** Where visitors can book if the frame doesn't load; by default the widget's own page. */
  fallback?: string | undefined;
};

type BookingFrame = { readonly element: HTMLElement; readonly title: string; close(): void };

/** A frame that takes longer is replaced by an explanation, but may still become ready. */
const READY_LIMIT_MS = 3_000;

/** One per open frame. With a message: handles it if it is that frame's. Without one: tells the frame what has changed. */
const open = new Set<(message?: MessageEvent<Envelope<FromFrame>>) => void>();
let made = 0;

/** A booking frame: the iframe, and a placeholder until it is ready or if it never is. */
export function openFrame(site: Site, wanted: Wanted, onClose?: () => void): BookingFrame {
  const frame = `f${++made}`;
  const { widget } = wanted;
  const locale = toLocale(wanted.locale);
  const [title, close, failure, retry] = findTexts(locale);
  const mode = onClose ? "popup" : "inline";
  const iframe = make("iframe", { title });
  const status = make("output");
  const element = make("div", {}, status);
  const toAddress = (page: string) => `${site.base}/${page}/${encodeURIComponent(widget)}`;
  /** What may change while the frame is open. */
  const toMessage = (): Envelope<FromLoader> => ({
    svc: MESSAGE_VERSION,
    frame,
    attribution: site.attribution.read(),
    theme: site.theme,
  });
  let isReady = false;

  // JSON leaves out undefined fields. A fragment appears on no server and in no log.
  const { fontFamily: font } = getComputedStyle(document.body);
  const context = { ...wanted, hostOrigin: origin, font, mode, locale, ...toMessage() };
  iframe.src = `${toAddress("embed")}#${encodeURIComponent(JSON.stringify(context))}`;
  load();
  // Shown until the frame has its own.
  if (onClose) element.append(make("button", { textContent: "×", ariaLabel: close, onclick: onClose }));
  open.add(take);
  return {
    element,
    title,
    close() {
      open.delete(take);
      element.remove();
    },
  };

  function take(message?: MessageEvent<Envelope<FromFrame>>): void {
    if (!message) update();
    if (message?.source !== iframe.contentWindow || message?.origin !== site.base) return;
    const { svc, frame: from, ...said } = message.data;
    if (svc !== MESSAGE_VERSION || from !== frame) return;
    if (said.type === "resize") iframe.style.height = `${said.height}px`;
    else if (said.type === "close") onClose?.();
    else {
      if (said.type === "ready") {
        isReady = true;
        element.className = `${mode} ready`;
        if (onClose) iframe.focus();
      }
      if (said.type === "failed") fail();
      update();
      site.tell(widget, said);
    }
  }

  /** Posting before the frame listens would log an error on the console. */
  function update(): void {
    if (isReady) iframe.contentWindow?.postMessage(toMessage(), site.base);
  }

  /** An iframe that is inserted again is loaded again. False: the link that calls this leads nowhere. */
  function load(): false {
    setTimeout(fail, READY_LIMIT_MS);
    // Empty, it is drawn as a skeleton.
    status.textContent = "";
    element.className = mode;
    element.append(iframe);
    return false;
  }

  function fail(): void {
    if (isReady) return;
    element.className = `${mode} failed`;
    status.replaceChildren(
      failure,
      make("a", { textContent: retry, href: "#", onclick: load }),
      make("a", { textContent: title, href: wanted.fallback ?? toAddress("w"), target: "_blank" }),
    );
  }
}

export function takeMessage(message?: MessageEvent): void {
  for (const take of open) take(message);
}

/** The page's language, or else the browser's. */
export function toLocale(locale?: string): string {
  return locale || document.documentElement.lang || navigator.language;
}
