import { Badge, Group, Text } from "@mantine/core";
import { IconClock } from "@tabler/icons-react";
import type { AppAttempt, AppDeliveryDetail } from "#contract/app/deliveries.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { CopyField } from "../ui/copy/CopyField.tsx";
import { Fold } from "../ui/layout/Fold.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { EmptyState } from "../ui/states/EmptyState.tsx";
import classes from "./AttemptsSection.module.css";
import { describeAttempt, formatDuration } from "./delivery-words.ts";

export function AttemptsSection({ delivery: { attempts, state } }: { delivery: AppDeliveryDetail }) {
  return (
    <Section title="Attempts" description="Newest first.">
      {attempts.length > 0 ? (
        <ol className={classes["attempts"]} reversed>
          {attempts.map((attempt, index) => (
            <Attempt key={attempt.number} attempt={attempt} isNewest={index === 0} />
          ))}
        </ol>
      ) : (
        <EmptyState icon={IconClock} title={state === "canceled" ? "Never sent" : "First attempt pending"} />
      )}
    </Section>
  );
}

const RESULTS: Record<AppAttempt["result"], { name: string; color: string }> = {
  delivered: { name: "Delivered", color: "green" },
  failed: { name: "Failed", color: "red" },
  interrupted: { name: "Interrupted", color: "yellow" },
};

function Attempt({ attempt, isNewest }: { attempt: AppAttempt; isNewest: boolean }) {
  const { format, can } = useOrganization();
  const { name, color } = RESULTS[attempt.result];
  const { number, reply, durationMs, nextAttemptAt } = attempt;
  return (
    <li className={classes["attempt"]}>
      <Group justify="space-between" gap="xs" align="baseline">
        <Group gap="xs" align="center">
          <Text size="sm" fw={600}>
            Attempt {number}
          </Text>
          <Badge color={color}>{name}</Badge>
          {attempt.trigger === "manual" && <Badge color="gray">Redelivery</Badge>}
        </Group>
        <Text size="xs" c="dimmed" className={classes["time"]}>
          {format.exact(attempt.startedAt)}
        </Text>
      </Group>
      <Text size="sm" mt={4}>
        {describeAttempt(attempt)}
        {durationMs !== null && ` after ${formatDuration(durationMs)}`}.
        {nextAttemptAt !== null && ` Next attempt scheduled for ${format.timeToSecond(nextAttemptAt)}.`}
      </Text>
      {reply && can("seeCustomers").isAllowed && (
        <div className={classes["reply"]} data-open={isNewest}>
          {isNewest ? (
            <Reply attempt={attempt} />
          ) : (
            <Fold label="Response">
              <Reply attempt={attempt} />
            </Fold>
          )}
        </div>
      )}
    </li>
  );
}

function Reply({ attempt: { reply, replyIsTruncated } }: { attempt: AppAttempt }) {
  return <CopyField label={replyIsTruncated ? "Response (truncated)" : "Response"} value={reply ?? ""} />;
}
