import { openFrame, type Wanted } from "./booking-frame.ts";
import { addHost, make } from "./make.ts";
import type { Site } from "./site.ts";

let closeOpen: (() => void) | undefined;

/** A native dialog. A click outside doesn't close it, because the visitor may have filled in the form. */
export function openPopup(site: Site, wanted: Wanted, opener: Element | null): void {
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
