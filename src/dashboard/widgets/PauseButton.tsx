import { useDisclosure } from "@mantine/hooks";
import { IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react";
import type { AppWidget } from "#contract/app/widgets.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { ConfirmDialog } from "../ui/forms/ConfirmDialog.tsx";
import { useWidgetChange } from "./use-widget-change.ts";

export function PauseButton({ widget }: { widget: AppWidget }) {
  const { can } = useOrganization();
  const [isOpen, dialog] = useDisclosure(false);
  const isPaused = widget.status === "paused";
  const change = useWidgetChange(widget.id, {
    successMessage: (saved) => (saved.status === "paused" ? `${saved.name} paused` : `${saved.name} activated`),
    onDone: dialog.close,
  });
  return (
    <>
      <ActionButton
        variant="default"
        verdict={can("changeWidget")}
        leftSection={isPaused ? <IconPlayerPlay size={17} stroke={1.6} /> : <IconPlayerPause size={17} stroke={1.6} />}
        onClick={dialog.open}
      >
        {isPaused ? "Activate widget" : "Pause widget"}
      </ActionButton>
      <ConfirmDialog
        isOpen={isOpen}
        title={isPaused ? `Activate ${widget.name}?` : `Pause ${widget.name}?`}
        confirmLabel={isPaused ? "Activate widget" : "Pause widget"}
        isDangerous={!isPaused}
        isBusy={change.isPending}
        onConfirm={() => change.mutate({ status: isPaused ? "active" : "paused" })}
        onClose={dialog.close}
      >
        {isPaused
          ? "Visitors can book again, and visits are counted again."
          : "The widget stays on your page, but visitors can’t book and visits aren’t counted. Existing bookings aren’t affected."}
      </ConfirmDialog>
    </>
  );
}
