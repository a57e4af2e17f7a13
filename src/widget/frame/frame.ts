import type { FrameContext } from "#contract/widgets/frame-messages.ts";
import type { Api } from "./api.ts";
import type { Funnel } from "./funnel.ts";
import type { Bridge } from "./host/bridge.ts";
import type { StepHistory } from "./step-history.ts";
import type { Texts } from "./texts/texts.ts";
import type { VisitKeeper } from "./visit.ts";

export type Frame = {
  readonly api: Api;
  readonly bridge: Bridge;
  readonly funnel: Funnel;
  readonly steps: StepHistory;
  readonly visit: VisitKeeper;
  readonly texts: Texts;
  readonly locale: string;
  /** The host page may change its contents while the page is open. */
  readonly context: FrameContext;
};
