import { openFrame } from "./booking-frame.ts";
import { guarded } from "./guarded.ts";
import { attachRoot, make } from "./make.ts";
import type { Site } from "./site.ts";

/** How far below the viewport a frame starts to load. */
const NEAR = "600px";

/** Shows the frame's place in the element, or removes it. */
type Place = (isShown?: true) => void;

/** `<svc-booking widget="w_…" service="…" locale="…">`: the frame inside the page, loaded when it comes near. */
export function defineInlineElement(site: Site): void {
  customElements.define(
    "svc-booking",
    class extends HTMLElement {
      declare place: Place;

      constructor() {
        super();
        this.place = createPlace(site, this);
      }

      connectedCallback(): void {
        this.place(true);
      }

      disconnectedCallback(): void {
        this.place();
      }
    },
  );
}

function createPlace(site: Site, host: HTMLElement): Place {
  const root = attachRoot(host);
  const room = make("div");
  const watch = new IntersectionObserver(guarded(loadWhenNear), { rootMargin: NEAR });
  let close: (() => void) | undefined;
  return (isShown) => {
    // Observe again, or the browser would report no change for a moved element.
    watch.disconnect();
    if (isShown) {
      root.append(room);
      watch.observe(room);
    } else {
      room.remove();
      close?.();
    }
  };

  /** A busy page gets several entries at once. The last one is where the element is now. */
  function loadWhenNear(entries: IntersectionObserverEntry[]): void {
    const read = (name: string) => host.getAttribute(name) || undefined;
    const widget = read("widget") ?? site.widget;
    if (!entries.pop()?.isIntersecting || !widget) return;
    const frame = openFrame(site, {
      widget,
      service: read("service"),
      locale: read("locale"),
      fallback: read("fallback"),
    });
    room.replaceWith(frame.element);
    close = frame.close;
  }
}
