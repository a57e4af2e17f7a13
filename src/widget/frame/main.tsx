import { render } from "preact";
import type { RawAttribution } from "#contract/analytics/attribution.ts";
import type { FrameContext, Preview } from "#contract/widgets/frame-messages.ts";
import { findLanguage } from "#contract/widgets/languages.ts";
import { PAGE_FONT, parseAccentColor, parseFontFamily } from "#contract/widgets/widget-looks.ts";
import { createApi } from "./api.ts";
import { App } from "./app.tsx";
import { makeUuid } from "./environment.ts";
import type { Frame } from "./frame.ts";
import { Funnel } from "./funnel.ts";
import { type Bridge, createBridge, reportHeight } from "./host/bridge.ts";
import { parseContext } from "./host/context.ts";
import { readPageAttribution } from "./host/page-attribution.ts";
import { findPreview, toPreviewApi } from "./host/preview.ts";
import { Look, type WidgetLook } from "./look.ts";
import { StepHistory } from "./step-history.ts";
import { loadTexts } from "./texts/load-texts.ts";
import { CloseButton } from "./views/shell.tsx";
import { VisitKeeper } from "./visit.ts";
import "./styles/base.css";
import "./styles/parts.css";
import "./styles/steps.css";
import "./styles/classic.css";
import "./styles/compact.css";
import "./styles/minimal.css";
import "./styles/popup.css";

const page = document.documentElement;
const isDirect = page.dataset["page"] === "direct";
const element = document.getElementById("frame");
const widget = element?.dataset["widget"];
if (element && widget !== undefined) {
  await waitUntilShown();
  await start(element, widget);
} else if (element) {
  await startUnknown(element);
}

/** The page of an unknown widget is already complete. The host page should show it, and a popup can be closed. */
async function startUnknown(element: HTMLElement): Promise<void> {
  const context = readContext();
  const bridge = createBridge(context);
  const steps = startSteps(context, bridge);
  const look = new Look(page, { widgetLook: { accent: null, radius: null, font: null }, theme: context.theme ?? {} });
  if (context.mode === "popup") {
    const texts = await loadTexts(findLanguage([page.lang])?.language ?? "en");
    const top = document.createElement("header");
    top.className = "top";
    element.firstElementChild?.prepend(top);
    render(<CloseButton steps={steps} texts={texts} />, top);
  }
  appear(element, { context, bridge, look });
}

async function start(element: HTMLElement, widget: string): Promise<void> {
  const context = readContext();
  const preview = findPreview();
  const fixed = preview ? preview.language : element.dataset["language"] || null;
  const isFixed = (tag: string) => findLanguage([tag])?.language === fixed;
  const chosen = fixed === null ? toWithRegion(context.locale) : toWithRegion(fixed).filter(isFixed);
  const wanted = [chosen, navigator.languages].flat();
  const { language, tag } = findLanguage(wanted) ?? { language: "en" as const, tag: "en" };
  if (preview) page.dataset["template"] = preview.template;
  const look = new Look(page, {
    widgetLook: preview ? toPreviewLook(preview) : readLook(element.dataset, context),
    theme: context.theme ?? {},
  });
  const texts = await loadTexts(language);
  page.lang = tag;

  const api = preview ? toPreviewApi(createApi(widget), preview) : createApi(widget);
  const bridge = createBridge(context);
  const visit = new VisitKeeper({
    widget,
    mayStore: mayStore(context.attribution),
    storage: () => window.sessionStorage,
    makeId: makeUuid,
  });
  const { href: address } = location;
  const { referrer } = document;
  if (isDirect) context.attribution = readPageAttribution({ address, referrer, isPrivate: wantsPrivacy() });
  // Without the loader, the referrer is all that is known of the host page.
  else if (!context.attribution && referrer) context.attribution = { currentPage: referrer };
  const funnel = new Funnel({
    visit,
    attribution: () => context.attribution ?? {},
    page: () => context.attribution?.currentPage,
    send: api.sendSteps,
    wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    onStep: (step) => bridge.post({ type: "step", name: step }),
  });
  window.addEventListener("pagehide", () => {
    for (const body of funnel.takeWaiting()) api.beaconSteps(body);
  });

  // A preview must not change the dashboard's history.
  const steps = startSteps(context, bridge, preview ? null : window.history);
  const frame: Frame = { api, bridge, funnel, steps, visit, texts, locale: tag, context };
  element.textContent = "";
  render(<App frame={frame} />, element);
  bridge.listen((heard) => {
    if (heard.attribution) visit.permit(mayStore(heard.attribution));
  });
  appear(element, { context, bridge, look });
}

/** The accent of a preview comes with its theme. */
function toPreviewLook({ cornerRadius, fontFamily }: Preview): WidgetLook {
  return { accent: null, radius: cornerRadius, font: toFont(fontFamily ?? "") };
}

function readLook({ accent, radius, font = "" }: DOMStringMap, context: FrameContext): WidgetLook {
  return {
    accent: parseAccentColor(accent ?? ""),
    radius: radius ? Number(radius) : null,
    font: toFont(font, context),
  };
}

/** The page's own font is unknown on our own pages; the system's is used there. */
function toFont(text: string, { font }: FrameContext = {}): string | null {
  const name = parseFontFamily(text);
  return name === PAGE_FONT ? (font ?? null) : name && `"${name}"`;
}

/** Esc closes a popup. */
function startSteps(context: FrameContext, bridge: Bridge, history: History | null = window.history): StepHistory {
  const isPopup = context.mode === "popup";
  const steps = new StepHistory({ history, isPopup, onClosed: () => bridge.post({ type: "close" }) });
  if (isPopup)
    window.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.defaultPrevented) void steps.close();
    });
  return steps;
}

/** An inline frame grows with its content; a popup fills the window and scrolls. */
function appear(element: HTMLElement, host: { context: FrameContext; bridge: Bridge; look: Look }): void {
  const { context, bridge, look } = host;
  page.dataset["mode"] = context.mode ?? "";
  if (context.mode !== "popup") reportHeight(element, bridge);
  // The host page may send its theme and the visitor's consent once, as soon as the frame is ready.
  bridge.listen((heard) => {
    if (heard.theme) look.change(heard.theme);
    if (heard.attribution) context.attribution = heard.attribution;
  });
  bridge.post({ type: "ready" });
}

/** The loader sends the time of the first visit only if it may store it. Our own pages have no loader, and ask for no consent. */
function mayStore(attribution: RawAttribution | undefined): boolean {
  return attribution?.firstSeenAt !== undefined;
}

/** A prerendered page has no visitor yet. */
async function waitUntilShown(): Promise<void> {
  // Missing in our DOM types.
  const { prerendering } = document as Document & { prerendering?: boolean };
  if (!prerendering) return;
  await new Promise((resolve) => document.addEventListener("prerenderingchange", resolve, { once: true }));
}

function wantsPrivacy(): boolean {
  // Missing in our DOM types.
  const { globalPrivacyControl } = navigator as Navigator & { globalPrivacyControl?: boolean };
  return globalPrivacyControl === true || navigator.doNotTrack === "1";
}

/** The direct page has no host page. */
function readContext(): FrameContext {
  return isDirect ? {} : parseContext(location.hash);
}

/** If the host page only says "en", the visitor's own locale decides how dates are written. */
function toWithRegion(locale: string | undefined): string[] {
  if (locale === undefined) return [];
  const own = navigator.languages.find((language) => language.startsWith(`${locale}-`));
  return own === undefined ? [locale] : [own, locale];
}
