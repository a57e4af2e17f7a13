import { Alert } from "@mantine/core";
import { IconAlertCircle } from "@tabler/icons-react";
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { ApiFailure, explain } from "../../api/client.ts";
import classes from "./FormFault.module.css";

/** The error of a whole form, and the errors of fields that have no input in it. Other fields show their own errors. */
export function FormFault({ error }: { error: Error | null }) {
  const place = useRef<HTMLDivElement>(null);
  const [message, setMessage] = useState("");
  // After every render, because inputs may appear later, such as those of another step.
  useLayoutEffect(() => setMessage(error ? describeFault(error, place.current?.closest("form") ?? null) : ""));
  return (
    <div ref={place} className={classes["place"]}>
      {message && <FaultAlert>{message}</FaultAlert>}
    </div>
  );
}

function describeFault(error: Error, form: HTMLFormElement | null): string {
  const fields = error instanceof ApiFailure ? Object.entries(error.fields) : [];
  if (fields.length === 0) return explain(error);
  // Inputs carry the name of their field in this attribute (@mantine/form).
  const inputs = [...(form?.querySelectorAll<HTMLElement>("[data-path]") ?? [])].map(({ dataset }) => dataset["path"]);
  return fields.flatMap(([name, fault]) => (inputs.includes(name) ? [] : [fault])).join(" ");
}

/**
 * Scrolls into view, because the button that was pressed may be at the end of a long form, and takes the focus, which that button lost
 * while it was disabled. Someone who pressed Enter in a field stays there.
 */
function FaultAlert({ children }: { children: ReactNode }) {
  const alert = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!document.activeElement?.matches("input, textarea, select")) alert.current?.focus({ preventScroll: true });
    // Not returned: newer browsers answer with a promise.
    void alert.current?.scrollIntoView({ block: "nearest" });
  }, []);
  return (
    <Alert
      ref={alert}
      color="red"
      role="alert"
      tabIndex={-1}
      className={classes["alert"]}
      icon={<IconAlertCircle size={20} stroke={1.6} />}
    >
      {children}
    </Alert>
  );
}
