import { useBlocker } from "@tanstack/react-router";
import { ConfirmDialog } from "./ConfirmDialog.tsx";

type LeaveGuardProps = {
  isDirty: boolean;
  title?: string;
  /** What would be lost. */
  children?: string;
};

/** Asks before what is not saved is left, by a link, the browser's way back, or closing the tab. It stands outside of the form. */
export function LeaveGuard(about: LeaveGuardProps) {
  const {
    isDirty,
    title = "Leave without saving?",
    children = "What you changed on this screen is not saved yet.",
  } = about;
  const blocker = useBlocker({
    // Tabs and filters of the same screen leave nothing.
    shouldBlockFn: ({ current, next }) => isDirty && current.pathname !== next.pathname,
    enableBeforeUnload: isDirty,
    withResolver: true,
  });
  return (
    <ConfirmDialog
      isOpen={blocker.status === "blocked"}
      title={title}
      confirmLabel="Leave"
      onConfirm={() => blocker.proceed?.()}
      onClose={() => blocker.reset?.()}
    >
      {children}
    </ConfirmDialog>
  );
}
