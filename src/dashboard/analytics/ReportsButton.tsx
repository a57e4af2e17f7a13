import { Alert, Modal, Stack, Switch, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconMail, IconMailOff } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { REPORT_HOUR, REPORT_PERIODS, type ReportPeriod } from "#contract/app/reports.ts";
import { reportsQuery } from "../api/analytics.ts";
import { call } from "../api/call.ts";
import { formatIn, formatZone } from "../format.ts";
import { useAction } from "../hooks/use-action.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { Loaded } from "../ui/states/Loaded.tsx";
import { HeaderButton } from "./HeaderButton.tsx";

const TIME = formatIn("UTC").time(`2026-11-02T${String(REPORT_HOUR).padStart(2, "0")}:00Z`);

const PERIOD_WORDS: Readonly<Record<ReportPeriod, { label: string; description: string }>> = {
  weekly: { label: "Weekly report", description: `Every Monday at ${TIME}, for the week before.` },
  monthly: { label: "Monthly report", description: `On the first of each month at ${TIME}, for the month before.` },
};

export function ReportsButton() {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <HeaderButton icon={IconMail} label="Email reports" onClick={open} />
      <Modal opened={isOpen} onClose={close} title="Email reports">
        <Subscriptions />
      </Modal>
    </>
  );
}

function Subscriptions() {
  const { id, me, details } = useOrganization();
  const reports = useQuery(reportsQuery(id));
  const save = useAction({
    run: ({ period, isOn }: { period: ReportPeriod; isOn: boolean }) =>
      call("changeReports", { organization: id, body: { [period]: isOn } }),
    refreshes: [reportsQuery(id).queryKey],
    successMessage: (_, { period, isOn }) => `${PERIOD_WORDS[period].label} turned ${isOn ? "on" : "off"}`,
  });
  return (
    <Loaded query={reports} rows={2}>
      {(subscribed) => (
        <Stack gap="md">
          {!subscribed.isMailOn && (
            <Alert color="yellow" icon={<IconMailOff size={20} stroke={1.6} />} title="Email is off">
              This server doesn’t send emails. Its operator can set up a mail server with SMTP_URL.
            </Alert>
          )}
          <Text size="sm" c="dimmed">
            Totals, top channels, sources and campaigns, lost bookings and failing endpoints, without test data. Sent to{" "}
            {me.user.email}. Times in {formatZone(details.timeZone)}.
          </Text>
          {REPORT_PERIODS.map((period) => (
            <Switch
              key={period}
              {...PERIOD_WORDS[period]}
              checked={subscribed[period]}
              disabled={save.isPending || (!subscribed.isMailOn && !subscribed[period])}
              onChange={(event) => save.mutate({ period, isOn: event.currentTarget.checked })}
            />
          ))}
        </Stack>
      )}
    </Loaded>
  );
}
