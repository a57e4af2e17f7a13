import { Badge, Group, Progress, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import dayjs from "dayjs";
import type { ReactNode } from "react";
import type { AppRedelivery } from "#contract/app/deliveries.ts";
import { call } from "../api/call.ts";
import { deliveriesKey, redeliveriesQuery } from "../api/deliveries.ts";
import { formatCount, formatRelative, pluralize } from "../format.ts";
import { useAction } from "../hooks/use-action.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { ButtonLink } from "../ui/layout/links.tsx";
import { Section } from "../ui/layout/Section.tsx";
import classes from "./RedeliveryProgress.module.css";

const SHOWN = 3;

/** Shows the last day's bulk redeliveries above its children, which wait for them so that the page doesn't jump. */
export function RedeliveryProgress({ children }: { children: ReactNode }) {
  const { id } = useOrganization();
  const redeliveries = useQuery(redeliveriesQuery(id));
  if (redeliveries.isPending) return null;
  const shown = (redeliveries.data?.data ?? []).filter(isCurrent).slice(0, SHOWN);
  return (
    <>
      {shown.length > 0 && (
        <Section title="Bulk redeliveries">
          <ul>
            {shown.map((each) => (
              <Redelivery key={each.id} redelivery={each} />
            ))}
          </ul>
        </Section>
      )}
      {children}
    </>
  );
}

function isCurrent({ matched, state, waiting, createdAt }: AppRedelivery): boolean {
  const isToday = dayjs().diff(createdAt, "hour") < 24;
  return matched > 0 && (state === "running" || waiting > 0 || isToday);
}

const STATE_WORDS: Record<AppRedelivery["state"], { name: string; color: string }> = {
  running: { name: "Queueing", color: "petrol" },
  finished: { name: "Queued", color: "gray" },
  canceled: { name: "Cancelled", color: "gray" },
};

function Redelivery({ redelivery }: { redelivery: AppRedelivery }) {
  const { id, can, paths } = useOrganization();
  const cancel = useAction({
    run: () => call("cancelRedelivery", { organization: id, params: { redelivery: redelivery.id } }),
    refreshes: [deliveriesKey(id)],
    successMessage: () => "Redelivery cancelled",
  });
  const { state, matched, delivered, failed, waiting, createdAt } = redelivery;
  const isDone = state === "finished" && waiting === 0;
  const { name, color } = isDone ? { name: "Done", color: "green" } : STATE_WORDS[state];
  const label = `${pluralize(matched, "delivery", "deliveries")}, started ${formatRelative(createdAt)}`;
  return (
    <li className={classes["redelivery"]}>
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <Text size="sm" fw={600}>
            {label}
          </Text>
          <Badge color={color}>{name}</Badge>
        </Group>
        <Group gap="xs">
          {state === "running" && (
            <ActionButton
              size="xs"
              variant="default"
              verdict={can("cancelRedelivery")}
              loading={cancel.isPending}
              onClick={() => cancel.mutate()}
            >
              Cancel redelivery
            </ActionButton>
          )}
          <ButtonLink size="xs" variant="subtle" to={paths.deliveries} search={{ redelivery: redelivery.id }}>
            View deliveries
          </ButtonLink>
        </Group>
      </Group>
      <Progress.Root size="lg" mt="xs">
        <Progress.Section value={toShare(delivered, matched)} color="green.7" aria-label={`Delivered: ${label}`} />
        <Progress.Section value={toShare(failed, matched)} color="red.7" aria-label={`Failed: ${label}`} />
      </Progress.Root>
      <Text size="xs" c="dimmed" mt={4} role="status">
        {describeProgress(redelivery)}
      </Text>
    </li>
  );
}

/** "3 delivered, 1 failed". Leaves out zeros. */
function describeProgress({ state, matched, queued, delivered, failed, canceled, waiting }: AppRedelivery): string {
  const notQueued = Math.max(0, matched - queued);
  const parts = [
    [delivered, "delivered"],
    [failed, "failed"],
    [waiting, "waiting"],
    [canceled, "cancelled"],
    [notQueued, state === "running" ? "not queued yet" : "not sent"],
  ] as const;
  const shown = parts.filter(([count]) => count > 0).map(([count, word]) => `${formatCount(count)} ${word}`);
  return shown.join(", ");
}

function toShare(part: number, whole: number): number {
  return whole === 0 ? 0 : (part / whole) * 100;
}
