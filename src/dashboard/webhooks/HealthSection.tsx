import { Alert, Stack, Text } from "@mantine/core";
import { IconAlertTriangle, IconClockPause, IconPlugConnectedX } from "@tabler/icons-react";
import type { AppEndpoint } from "#contract/app/endpoints.ts";
import { formatCount, formatRelative } from "../format.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { Section } from "../ui/layout/Section.tsx";
import { When } from "../ui/tables/When.tsx";
import { DISABLED_WORDS, isPaused } from "./endpoint-words.ts";
import { type Figure, Figures } from "./Figures.tsx";
import classes from "./HealthSection.module.css";
import { RetryAllButton } from "./RetryAllButton.tsx";

export function HealthSection({ endpoint }: { endpoint: AppEndpoint }) {
  const { format } = useOrganization();
  const { health, notices } = endpoint;
  const figures: Figure[] = [
    ["Delivered", formatCount(health.lastDay.delivered)],
    ["Failed", formatCount(health.lastDay.failed)],
    ["Last delivered", <When key="delivered" at={health.lastSuccessAt} never="Never" />],
    ["Last failed", <When key="failed" at={health.lastDay.lastFailureAt} never="–" />],
    ["Last HTTP status", health.lastStatus ?? "–"],
  ];
  return (
    <Section title="Health" description="Attempts in the last 24 hours, including retries.">
      <Stack gap="lg">
        <Problems endpoint={endpoint} />
        <Figures figures={figures} />
        {notices.length > 0 && (
          <div>
            <Text size="xs" fw={600} c="dimmed" mb={6}>
              Notices
            </Text>
            <ul className={classes["notices"]}>
              {notices.map(({ kind, detail, at }) => (
                <li key={`${kind} ${at}`} className={classes["notice"]}>
                  <Text size="sm">{detail}</Text>
                  <Text size="xs" c="dimmed" title={format.exact(at)}>
                    {format.dateTime(at)}
                  </Text>
                </li>
              ))}
            </ul>
          </div>
        )}
      </Stack>
    </Section>
  );
}

function Problems({ endpoint }: { endpoint: AppEndpoint }) {
  const { format } = useOrganization();
  const { health, status, disabledReason, disabledAt } = endpoint;
  if (status === "disabled")
    return (
      <Alert color="gray" title="This endpoint is off" icon={<IconPlugConnectedX size={20} stroke={1.6} />}>
        {disabledReason && DISABLED_WORDS[disabledReason]}
        {disabledAt && ` (${formatRelative(disabledAt)})`}. Missed events stay in the log and can be redelivered once
        the endpoint is on again.
      </Alert>
    );
  return (
    <>
      {health.failingSince !== null && (
        <Alert color="red" title="Deliveries are failing" icon={<IconAlertTriangle size={20} stroke={1.6} />}>
          Open a failed delivery to see the error. No delivery has succeeded since{" "}
          {format.dateTime(health.failingSince)}. Each one is retried for about two hours. After five days without
          success, the endpoint is turned off.
          <RetryAllButton endpoint={endpoint} />
        </Alert>
      )}
      {isPaused(health) && (
        <Alert color="yellow" title="Paused by the receiver" icon={<IconClockPause size={20} stroke={1.6} />}>
          The receiver asked us to wait. Deliveries resume at {format.exact(health.pausedUntil)}.
          {health.failingSince === null && <RetryAllButton endpoint={endpoint} />}
        </Alert>
      )}
    </>
  );
}
