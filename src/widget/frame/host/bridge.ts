import type { Envelope, FrameContext, FromFrame, FromLoader } from "#contract/widgets/frame-messages.ts";
import { MESSAGE_VERSION } from "#contract/widgets/frame-messages.ts";
import { parseWishes } from "./context.ts";

// Messages between the frame and its host page. They are sent only to the origin that the loader named.

const HEIGHT_MIN = 200;
const HEIGHT_MAX = 4_000;
const HEIGHT_STEP_MIN = 2;

export type Bridge = { post(message: FromFrame): void; listen(hear: (heard: FromLoader) => void): () => void };

export function createBridge(context: FrameContext): Bridge {
  const isFramed = window.parent !== window;
  return {
    post(message) {
      // Any page may learn that a frame is here; everything else is for the host page alone.
      const target = context.hostOrigin ?? (message.type === "ready" ? "*" : null);
      if (!isFramed || target === null) return;
      const envelope: Envelope<FromFrame> = { svc: MESSAGE_VERSION, frame: context.frame ?? "", ...message };
      window.parent.postMessage(envelope, target);
    },
    listen(hear) {
      const onMessage = (event: MessageEvent<unknown>) => {
        if (!isFramed || event.source !== window.parent || event.origin !== context.hostOrigin) return;
        const heard = parseMessage(event.data, context.frame ?? "");
        if (heard) hear(heard);
      };
      window.addEventListener("message", onMessage);
      return () => window.removeEventListener("message", onMessage);
    },
  };
}

export function parseMessage(value: unknown, frame: string): FromLoader | null {
  if (typeof value !== "object" || value === null) return null;
  const given = value as Record<string, unknown>;
  return given["svc"] === MESSAGE_VERSION && given["frame"] === frame ? parseWishes(given) : null;
}

/** Sends the frame's height to the host page, at most once per rendered frame. */
export function reportHeight(element: Element, bridge: Pick<Bridge, "post">): void {
  let reported = 0;
  let isAsked = false;
  const report = () => {
    isAsked = false;
    const height = Math.min(Math.max(Math.ceil(element.getBoundingClientRect().height), HEIGHT_MIN), HEIGHT_MAX);
    if (Math.abs(height - reported) < HEIGHT_STEP_MIN) return;
    reported = height;
    bridge.post({ type: "resize", height });
  };
  new ResizeObserver(() => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(report);
  }).observe(element);
}
