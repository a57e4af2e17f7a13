import { useQuery } from "@tanstack/react-query";
import type { AppWidget } from "#contract/app/widgets.ts";
import { call } from "../../api/call.ts";
import { testDataQuery } from "../../api/widgets.ts";
import { useAction } from "../../hooks/use-action.ts";
import { useOrganization } from "../../shell/use-organization.ts";
import { ConfirmDialog } from "../../ui/forms/ConfirmDialog.tsx";
import { describeTestData, hasTestData } from "./test-words.ts";

/** Deletes what the widget collected in test mode and on the practice Cal.com, and only that. */
export function ClearTestDialog(props: { widget: AppWidget; isOpen: boolean; onClose: () => void }) {
  const { widget, isOpen, onClose } = props;
  const { id } = useOrganization();
  const found = useQuery({ ...testDataQuery(id, widget.id), enabled: isOpen });
  const clear = useAction({
    run: () => call("clearTestData", { organization: id, params: { widget: widget.id }, body: {} }),
    refreshes: [[id]],
    successMessage: (cleared) => `Deleted ${describeTestData(cleared)}`,
    onDone: onClose,
  });
  const hasSome = found.data !== undefined && hasTestData(found.data);
  return (
    <ConfirmDialog
      isOpen={isOpen}
      title={`Clear test data for ${widget.name}?`}
      confirmLabel="Clear test data"
      isDangerous
      isBusy={clear.isPending || found.isPending}
      onConfirm={() => (hasSome ? clear.mutate() : onClose())}
      onClose={onClose}
    >
      {found.data === undefined
        ? "Counting test data…"
        : hasSome
          ? `${describeTestData(found.data)} from test and practice mode will be deleted, and analytics will be corrected. Live bookings and visits are kept.`
          : "This widget has no test data."}
    </ConfirmDialog>
  );
}
