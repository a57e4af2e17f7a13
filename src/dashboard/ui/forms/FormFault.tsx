import { Alert } from "@mantine/core";
import { IconAlertCircle } from "@tabler/icons-react";
import { type ReactNode, useEffect, useRef } from "react";
import { ApiFailure, explain } from "../../api/client.ts";
import classes from "./FormFault.module.css";

/** The error of a whole form. Errors of single fields are shown at the fields. */
export function FormFault({ error }: { error: Error | null }) {
  if (!error || (error instanceof ApiFailure && Object.keys(error.fields).length > 0)) return null;
  return <FaultAlert>{explain(error)}</FaultAlert>;
}

/**
 * Scrolls into view, because the button that was pressed may be at the end of a long form, and takes the focus, which that button lost
 * while it was disabled. Someone who pressed Enter in a field stays there.
 */
export function FaultAlert({ children }: { children: ReactNode }) {
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
      variant="light"
      role="alert"
      tabIndex={-1}
      className={classes["alert"]}
      icon={<IconAlertCircle size={20} stroke={1.6} />}
    >
      {children}
    </Alert>
  );
}
