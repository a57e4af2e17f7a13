import { toLocale } from "./booking-frame.ts";
import { guarded } from "./guarded.ts";
import { addHost, make } from "./make.ts";
import type { Site } from "./site.ts";

/** What the page at /button sends (src/server/embed/floating-button.ts). */
type Look = { label: string; lang: string; style: string };

/** Opens like any element with `data-svc-open`, and appears once it has its look. A label in the snippet comes first. */
export function showFloatingButton({ base, widget }: Site, ownLabel?: string): HTMLElement {
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
