import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { useWhen } from "../use-when.ts";
import { Icon } from "./icon.tsx";

/** Something the visitor must know before continuing. An interruption gets the focus, so that it is announced. */
export function Notice(props: {
  kind: "problem" | "calm";
  title: string;
  text?: string;
  takesFocus?: boolean;
  children?: ComponentChildren;
}) {
  const { kind, title, text, takesFocus, children } = props;
  const element = useRef<HTMLDivElement>(null);
  useWhen([title, takesFocus], () => {
    if (takesFocus) element.current?.focus();
  });
  return (
    <div class={`notice ${kind}`} ref={element} tabIndex={-1} role={kind === "problem" ? "alert" : "status"}>
      <h2>
        <Icon name={kind === "problem" ? "alert" : "calendar"} />
        {title}
      </h2>
      {text !== undefined && <p>{text}</p>}
      {children}
    </div>
  );
}
