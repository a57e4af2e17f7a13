import type { ComponentChildren } from "preact";
import type { ConfigResponse } from "#contract/widgets/embed-api.ts";
import type { Frame } from "../frame.ts";
import { Icon } from "./icon.tsx";

/** What surrounds every state of the frame: the business's name, the Back button, and the Close button of a popup. */
export function Shell(props: {
  frame: Frame;
  /** Null until it is loaded. */
  widget: ConfigResponse["widget"] | null;
  onBack?: (() => void) | null;
  progress?: { step: number; of: number } | null;
  children: ComponentChildren;
}) {
  const { texts, steps, context } = props.frame;
  const { widget, progress, onBack } = props;
  return (
    <div class="card">
      <header class="top">
        {onBack && (
          <button type="button" class="icon-button back" onClick={onBack} aria-label={texts.back}>
            <Icon name="back" />
          </button>
        )}
        {widget?.logoUrl && <img class="logo" src={widget.logoUrl} alt="" />}
        {widget && <h1>{widget.businessName}</h1>}
        {progress && (
          <p class="progress">
            <span class="unseen">{texts.stepOf(progress.step, progress.of)}</span>
            <span class="dots" aria-hidden="true">
              {Array.from({ length: progress.of }, (_, index) => index + 1).map((step) => (
                <span key={step} class={step <= progress.step ? "dot reached" : "dot"} />
              ))}
            </span>
          </p>
        )}
        {context.mode === "popup" && <CloseButton steps={steps} texts={texts} />}
      </header>
      {widget?.isTest && (
        <p class="test-mode" role="note">
          {texts.testMode}
        </p>
      )}
      {props.children}
    </div>
  );
}

export function CloseButton({ steps, texts }: Pick<Frame, "steps" | "texts">) {
  return (
    <button type="button" class="icon-button close" aria-label={texts.close} onClick={() => void steps.close()}>
      <Icon name="close" />
    </button>
  );
}
