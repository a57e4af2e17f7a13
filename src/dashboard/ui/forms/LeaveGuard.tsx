import { useBlocker } from "@tanstack/react-router";
import { ConfirmDialog } from "./ConfirmDialog.tsx";

type LeaveGuardProps = {
  isDirty: boolean;
  title?: string;
  /** What would be lost. */
  children?: string;
};

/** Asks before unsaved changes are lost by a link, the Back button or closing the tab. Place it outside of the form. */
export function LeaveGuard({
  isDirty,
  title = "Discard unsaved changes?",
  children = "Your changes on this page haven’t been saved.",
}: LeaveGuardProps) {
  const blocker = useBlocker({
    // Switching tabs and filters keeps the form.
    shouldBlockFn: ({ current, next }) => isDirty && current.pathname !== next.pathname,
    enableBeforeUnload: isDirty,
    withResolver: true,
  });
  return (
    <ConfirmDialog
      isOpen={blocker.status === "blocked"}
      title={title}
      confirmLabel="Leave page"
      onConfirm={() => blocker.proceed?.()}
      onClose={() => blocker.reset?.()}
    >
      {children}
    </ConfirmDialog>
  );
}
