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

export function HealthSection({ endpoint }: { endpoint: AppEndpoint }) {
  const { format } = useOrganization();
  const { health, notices } = endpoint;
  const figures: Figure[] = [
    ["Delivered, 24 hours", formatCount(health.lastDay.delivered)],
    ["Failed, 24 hours", formatCount(health.lastDay.failed)],
    ["Last delivered", <When key="delivered" at={health.lastSuccessAt} never="Never" />],
    ["Last failed, 24 hours", <When key="failed" at={health.lastDay.lastFailureAt} never="None" />],
    ["Last status", health.lastStatus ?? "–"],
  ];
  return (
    <Section title="Health" description="Attempts of the last 24 hours, retries included.">
      <Stack gap="lg">
        <Ailments endpoint={endpoint} />
        <Figures figures={figures} />
        {notices.length > 0 && (
          <div>
            <Text size="xs" fw={600} c="dimmed" mb={6}>
              What we noticed
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

/** What is wrong at the moment, and what follows from it. */
function Ailments({ endpoint: { health, status, disabledReason, disabledAt } }: { endpoint: AppEndpoint }) {
  const { format } = useOrganization();
  if (status === "disabled")
    return (
      <Alert color="gray" title="This endpoint is off" icon={<IconPlugConnectedX size={20} stroke={1.6} />}>
        {disabledReason && DISABLED_WORDS[disabledReason]} {disabledAt && `That was ${formatRelative(disabledAt)}.`}{" "}
        What it misses is kept in the log as canceled, and can be redelivered once it is on again.
      </Alert>
    );
  return (
    <>
      {health.failingSince !== null && (
        <Alert color="red" title="Deliveries are failing" icon={<IconAlertTriangle size={20} stroke={1.6} />}>
          Nothing has arrived since {format.dateTime(health.failingSince)}. Each delivery is tried again for about two
          hours. After five days without success the endpoint is switched off.
        </Alert>
      )}
      {isPaused(health) && (
        <Alert color="yellow" title="The receiver asked for a pause" icon={<IconClockPause size={20} stroke={1.6} />}>
          Nothing is sent before {format.exact(health.pausedUntil)}; what is due then follows by itself.
        </Alert>
      )}
    </>
  );
}
