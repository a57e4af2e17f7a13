import { Alert, Button, Group, Menu, Text } from "@mantine/core";
import {
  IconCircleCheck,
  IconDots,
  IconEraser,
  IconFlask,
  IconPlayerPause,
  IconPlugConnected,
} from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { AppConnection } from "#contract/app/connections.ts";
import type { AppWidget, TestDataShape } from "#contract/app/widgets.ts";
import { isDemoWidget } from "#contract/ids.ts";
import { call } from "../../api/call.ts";
import { connectionsQuery, testDataQuery, widgetsKey } from "../../api/queries.ts";
import { toFullName } from "../../connections/connection-words.ts";
import { useUrlState } from "../../hooks/use-url-state.ts";
import { useOrganization } from "../../shell/use-organization.ts";
import { ActionButton } from "../../ui/forms/ActionButton.tsx";
import { ConfirmAction } from "../../ui/forms/ConfirmDialog.tsx";
import { GoLiveDialog } from "./GoLiveDialog.tsx";
import { describeMode, describeTestData, hasTestData, LEAVING_LIVE, PAUSED_TEXT } from "./mode-words.ts";

/** `mode`: the open dialog; other screens link to it. */
const DEFAULTS = { mode: "" };

export function ModeBar({ widget }: { widget: AppWidget }) {
  const { can } = useOrganization();
  const [{ mode }, change] = useUrlState(DEFAULTS);
  const open = (dialog: string) => change({ mode: dialog });
  const dialog = (name: string) => ({
    widget,
    isOpen: mode === name && can("goLive").isAllowed,
    onClose: () => change({ mode: "" }, { replace: true }),
  });
  return (
    <>
      {widget.mode === "test" ? <TestBar widget={widget} onOpen={open} /> : <LiveBar widget={widget} onOpen={open} />}
      <GoLiveDialog {...dialog("go-live")} />
      <BackToTestDialog {...dialog("test")} />
      <ClearTestDialog {...dialog("clear")} />
    </>
  );
}

type BarProps = { widget: AppWidget; onOpen: (dialog: string) => void };

function TestBar({ widget, onOpen }: BarProps) {
  const { can } = useOrganization();
  return (
    <Alert
      color="yellow"
      mb="lg"
      icon={<IconFlask size={20} stroke={1.6} />}
      title={`This widget is ${describeMode(widget)}`}
    >
      <Text size="sm" mb="sm">
        {widget.status === "paused" && `${PAUSED_TEXT} `}
        It offers sample services and times, and tells visitors that no appointment is made. Visits, bookings and
        webhooks work as they will when it’s live. To take real bookings, connect your scheduling system and go live.
      </Text>
      <Group gap="xs">
        <ActionButton verdict={can("goLive")} onClick={() => onOpen("go-live")}>
          Go live
        </ActionButton>
        <ActionButton variant="default" verdict={can("clearTestData")} onClick={() => onOpen("clear")}>
          Clear test data
        </ActionButton>
      </Group>
    </Alert>
  );
}

function LiveBar({ widget, onOpen }: BarProps) {
  const { id, can } = useOrganization();
  const connections = useQuery({ ...connectionsQuery(id), enabled: can("listConnections").isAllowed });
  const connection = connections.data?.data.find((each) => each.id === widget.connectionId);
  const isPaused = widget.status === "paused";
  const Icon = isPaused ? IconPlayerPause : IconCircleCheck;
  return (
    <Alert
      color={isPaused ? "yellow" : "green"}
      mb="lg"
      icon={<Icon size={20} stroke={1.6} />}
      {...(isPaused ? { title: `This widget is ${describeMode(widget)}` } : {})}
    >
      <Group justify="space-between" gap="xs">
        <Text size="sm">
          {isPaused && `${PAUSED_TEXT} `}
          Bookings {isPaused ? "will be" : "are"} made in {describeSystem(widget, connection)}.
        </Text>
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionButton
              variant="default"
              size="compact-sm"
              verdict={can("goLive")}
              leftSection={<IconDots size={16} stroke={1.6} />}
            >
              Change mode
            </ActionButton>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item leftSection={<IconPlugConnected size={16} stroke={1.6} />} onClick={() => onOpen("go-live")}>
              Use another connection
            </Menu.Item>
            {!isDemoWidget(widget.id) && (
              <Menu.Item leftSection={<IconFlask size={16} stroke={1.6} />} onClick={() => onOpen("test")}>
                Return to test mode
              </Menu.Item>
            )}
            <Menu.Item leftSection={<IconEraser size={16} stroke={1.6} />} onClick={() => onOpen("clear")}>
              Clear test data
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </Group>
    </Alert>
  );
}

function describeSystem(widget: AppWidget, connection: AppConnection | undefined): string {
  if (widget.connectionId === null) return "the demo’s own calendar, which stands in for a scheduling system";
  return connection ? toFullName(connection) : "your scheduling system";
}

function BackToTestDialog(props: { widget: AppWidget; isOpen: boolean; onClose: () => void }) {
  const { widget, isOpen, onClose } = props;
  const { id } = useOrganization();
  return (
    <ConfirmAction
      subject={isOpen || null}
      title={`Return ${widget.name} to test mode?`}
      confirmLabel="Return to test mode"
      action={{
        run: () => call("goBackToTest", { organization: id, params: { widget: widget.id } }),
        refreshes: [widgetsKey(id)],
        successMessage: (saved) => `${saved.name} is in test mode`,
      }}
      onClose={onClose}
    >
      Visitors will see sample times and a test banner. {LEAVING_LIVE}
    </ConfirmAction>
  );
}

/** Deletes what the widget collected in test mode, and only that. */
function ClearTestDialog(props: { widget: AppWidget; isOpen: boolean; onClose: () => void }) {
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
