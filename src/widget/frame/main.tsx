import { render } from "preact";
import { findLanguage } from "#contract/languages.ts";
import { parseAccentColor } from "#contract/widget-looks.ts";
import { createApi } from "./api.ts";
import { App } from "./app.tsx";
import { createBridge, reportHeight } from "./bridge.ts";
import { parseContext } from "./context.ts";
import { makeUuid } from "./environment.ts";
import { Funnel } from "./funnel.ts";
import { Look } from "./look.ts";
import { readPageAttribution } from "./page-attribution.ts";
import { findPreview, toPreviewApi } from "./preview.ts";
import type { Session } from "./session.ts";
import { loadTexts } from "./texts/load-texts.ts";
import { VisitKeeper } from "./visit.ts";
import "./styles/base.css";
import "./styles/parts.css";
import "./styles/steps.css";
import "./styles/classic.css";
import "./styles/compact.css";
import "./styles/minimal.css";

const page = document.documentElement;
const element = document.getElementById("frame");
const widget = element?.dataset["widget"];
if (element && widget !== undefined) {
  await waitUntilShown();
  await start(element, widget);
} else if (element) {
  // The page of an unknown widget has its words already: the host page is to show them.
  const bridge = createBridge(parseContext(location.hash));
  reportHeight(element, bridge);
  bridge.post({ type: "ready" });
}

async function start(element: HTMLElement, widget: string): Promise<void> {
  const isDirect = page.dataset["page"] === "direct";
  const context = isDirect ? {} : parseContext(location.hash);
  const wanted = [toWithRegion(context.locale), navigator.languages].flat();
  const { language, tag } = findLanguage(wanted) ?? { language: "en" as const, tag: "en" };
  const preview = findPreview();
  if (preview) page.dataset["template"] = preview.template;
  const look = new Look(page, {
    // A preview names its accent itself.
    widgetAccent: preview ? null : parseAccentColor(element.dataset["accent"] ?? ""),
    theme: context.theme ?? {},
  });
  const texts = await loadTexts(language);
  page.lang = tag;

  const api = preview ? toPreviewApi(createApi(widget)) : createApi(widget);
  const bridge = createBridge(context);
  const visit = new VisitKeeper({
    widget: preview ? `${widget}_preview` : widget,
    storage: () => window.sessionStorage,
    makeId: makeUuid,
  });
  const { href: address } = location;
  const { referrer } = document;
  if (isDirect) context.attribution = readPageAttribution({ address, referrer, isPrivate: wantsPrivacy() });
  // A frame that was put into a page without the loader: of that page the browser tells the address at best.
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

  const session: Session = { api, bridge, funnel, look, visit, texts, locale: tag, context };
  element.textContent = "";
  render(<App session={session} />, element);
  reportHeight(element, bridge);
  bridge.post({ type: "ready" });
}

/** A page that the browser draws ahead, in case the visitor goes there, has no visitor yet. */
async function waitUntilShown(): Promise<void> {
  // Newer than our types.
  const { prerendering } = document as Document & { prerendering?: boolean };
  if (!prerendering) return;
  await new Promise((resolve) => document.addEventListener("prerenderingchange", resolve, { once: true }));
}

function wantsPrivacy(): boolean {
  // Newer than our types.
  const { globalPrivacyControl } = navigator as Navigator & { globalPrivacyControl?: boolean };
  return globalPrivacyControl === true || navigator.doNotTrack === "1";
}

/** A page that only says "en" leaves to the visitor how dates are written there. */
function toWithRegion(locale: string | undefined): string[] {
  if (locale === undefined) return [];
  const own = navigator.languages.find((language) => language.startsWith(`${locale}-`));
  return own === undefined ? [locale] : [own, locale];
}
