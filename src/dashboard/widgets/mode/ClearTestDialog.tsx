import { Button, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { AppWidget, TestDataShape } from "#contract/app/widgets.ts";
import { call } from "../../api/call.ts";
import { testDataQuery } from "../../api/queries.ts";
import { useOrganization } from "../../shell/use-organization.ts";
import { ConfirmAction } from "../../ui/forms/ConfirmAction.tsx";
import { describeTestData, hasTestData } from "./mode-words.ts";

/** Deletes what the widget collected in test mode, and only that. */
export function ClearTestDialog(props: { widget: AppWidget; isOpen: boolean; onClose: () => void }) {
  const { widget, isOpen, onClose } = props;
  const { id } = useOrganization();
  const found = useQuery({ ...testDataQuery(id, widget.id), enabled: isOpen });
  const hasSome = found.data !== undefined && hasTestData(found.data);
  return (
    <ConfirmAction
      subject={isOpen || null}
      title={`Clear test data for ${widget.name}?`}
      confirmLabel="Clear test data"
      isBusy={found.isPending}
      isDisabled={!hasSome}
      action={{
        run: () => call("clearTestData", { organization: id, params: { widget: widget.id }, body: {} }),
        refreshes: [[id]],
        successMessage: (cleared) => `Test data cleared: ${describeTestData(cleared)}`,
      }}
      onClose={onClose}
    >
      {found.data ? (
        describeClearing(found.data)
      ) : found.isError ? (
        <CountFailed isBusy={found.isFetching} onRetry={() => void found.refetch()} />
      ) : (
        "Counting test data…"
      )}
    </ConfirmAction>
  );
}

function describeClearing(found: TestDataShape): string {
  if (!hasTestData(found)) return "This widget has no test data.";
  return `${describeTestData(found)} from test mode will be deleted, and analytics will be corrected. Live bookings and visits are kept.`;
}

function CountFailed({ isBusy, onRetry }: { isBusy: boolean; onRetry: () => void }) {
  return (
    <Group justify="space-between" gap="sm" role="alert">
      The test data couldn’t be counted.
      <Button size="xs" variant="default" loading={isBusy} onClick={onRetry}>
        Try again
      </Button>
    </Group>
  );
}
