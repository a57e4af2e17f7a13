import type { AppWidget } from "#contract/app/widgets.ts";
import { call } from "../../api/call.ts";
import { widgetsKey } from "../../api/widgets.ts";
import { useAction } from "../../hooks/use-action.ts";
import { useOrganization } from "../../shell/use-organization.ts";
import { ConfirmDialog } from "../../ui/forms/ConfirmDialog.tsx";
import { LEAVING_LIVE } from "./test-words.ts";

export function BackToTestDialog(props: { widget: AppWidget; isOpen: boolean; onClose: () => void }) {
  const { widget, isOpen, onClose } = props;
  const { id } = useOrganization();
  const goBack = useAction({
    run: () => call("goBackToTest", { organization: id, params: { widget: widget.id } }),
    refreshes: [widgetsKey(id)],
    successMessage: (saved) => `${saved.name} is in test mode`,
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      isOpen={isOpen}
      title={`Return ${widget.name} to test mode?`}
      confirmLabel="Return to test mode"
      isDangerous
      isBusy={goBack.isPending}
      onConfirm={() => goBack.mutate()}
      onClose={onClose}
    >
      Visitors will see sample times and a test banner. {LEAVING_LIVE}
    </ConfirmDialog>
  );
}
