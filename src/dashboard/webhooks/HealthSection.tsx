import { Alert, Box, Stack, Text } from "@mantine/core";
import { IconAlertTriangle, IconClockPause, IconPlugConnectedX } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { AppEndpoint } from "#contract/app/endpoints.ts";
import { ENDPOINT_FAILING_DAYS_MAX } from "#contract/limits.ts";
import { call } from "../api/call.ts";
import { endpointRefreshes } from "../api/queries.ts";
import { formatCount, formatRelative, pluralize } from "../format.ts";
import { useAction } from "../hooks/use-action.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { When } from "../ui/tables/ListTable.tsx";
import { DISABLED_WORDS, isPaused } from "./endpoint-words.ts";
import classes from "./HealthSection.module.css";

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
            <ul>
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
          <Text size="sm">
            Open a failed delivery to see the error. No delivery has succeeded since{" "}
            {format.dateTime(health.failingSince)}. Each one is retried, by default for about two hours. After{" "}
            {ENDPOINT_FAILING_DAYS_MAX} days without success, the endpoint is turned off.
          </Text>
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

type Figure = readonly [label: string, value: ReactNode];

function Figures({ figures }: { figures: readonly Figure[] }) {
  return (
    <dl className={classes["figures"]}>
      {figures.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** For someone who has fixed the receiver: sends all queued and retrying deliveries of the endpoint now. */
function RetryAllButton({ endpoint }: { endpoint: AppEndpoint }) {
  const { id, can } = useOrganization();
  const retry = useAction({
    run: () => call("retryEndpoint", { organization: id, params: { endpoint: endpoint.id } }),
    refreshes: endpointRefreshes(id),
    successMessage: ({ count }) =>
      count === 0 ? "No deliveries to retry" : `Retrying ${pluralize(count, "delivery", "deliveries")}`,
  });
  return (
    <Box mt="sm">
      <ActionButton
        variant="default"
        size="xs"
        verdict={can("retryEndpoint")}
        loading={retry.isPending}
        onClick={() => retry.mutate()}
      >
        Retry all now
      </ActionButton>
    </Box>
  );
}
