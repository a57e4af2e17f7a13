import { Badge, Group, Stack, Text } from "@mantine/core";
import { IconClock } from "@tabler/icons-react";
import type { AppAttempt, AppDeliveryDetail } from "#contract/app/deliveries.ts";
import { describeAttempt } from "#contract/webhooks/delivery.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { CopyField } from "../ui/copy/CopyField.tsx";
import { Collapsible } from "../ui/layout/Collapsible.tsx";
import { Facts, Section } from "../ui/layout/Section.tsx";
import { EmptyState } from "../ui/states/EmptyState.tsx";
import classes from "./AttemptsSection.module.css";
import { formatDuration } from "./delivery-words.ts";

export function AttemptsSection({ delivery }: { delivery: AppDeliveryDetail }) {
  const { attempts, state } = delivery;
  return (
    <Section title="Attempts" description="Newest first.">
      {attempts.length > 0 ? (
        <ol reversed>
          {attempts.map((attempt, index) => (
            <Attempt key={attempt.number} attempt={attempt} delivery={delivery} isNewest={index === 0} />
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

type AttemptProps = {
  attempt: AppAttempt;
  delivery: AppDeliveryDetail;
  isNewest: boolean;
};

function Attempt({ attempt, delivery, isNewest }: AttemptProps) {
  const { format, can } = useOrganization();
  const { name, color } = RESULTS[attempt.result];
  const { number, reply, durationMs, nextAttemptAt } = attempt;
  const { kind } = delivery.endpoint;
  return (
    <li className={classes["attempt"]}>
      <Group justify="space-between" gap="xs" align="baseline">
        <Group gap="xs" align="center">
          <Text size="sm" fw={600}>
            Attempt {number}
          </Text>
          <Badge color={color}>{name}</Badge>
          {attempt.trigger === "manual" && <Badge color="gray">Manual</Badge>}
        </Group>
        <Text size="xs" c="dimmed" className={classes["time"]}>
          {format.exact(attempt.startedAt)}
        </Text>
      </Group>
      <Text size="sm" mt={4}>
        {describeAttempt({ ...attempt, kind })}
        {durationMs !== null && ` (${formatDuration(durationMs)})`}.
        {nextAttemptAt !== null && ` Next attempt scheduled for ${format.timeToSecond(nextAttemptAt)}.`}
      </Text>
      {kind === "teams" && attempt.status === 202 && attempt.result === "delivered" && (
        <Text size="xs" c="dimmed" mt={4}>
          Teams runs the workflow after it has accepted the card. If the card doesn’t appear, check the workflow’s run
          history.
        </Text>
      )}
      {can("seeCustomers").isAllowed && (
        <div className={classes["reply"]} data-open={isNewest && Boolean(reply)}>
          {reply && isNewest && <Reply attempt={attempt} />}
          {reply && !isNewest && (
            <Collapsible label="Response">
              <Reply attempt={attempt} />
            </Collapsible>
          )}
          {attempt.request && (
            <Collapsible label={`Details of attempt ${number}`}>
              <Details attempt={attempt} />
            </Collapsible>
          )}
        </div>
      )}
    </li>
  );
}

function Reply({ attempt: { reply, replyIsTruncated } }: { attempt: AppAttempt }) {
  return <CopyField label={replyIsTruncated ? "Response (truncated)" : "Response"} value={reply ?? ""} />;
}

function Details({ attempt: { request, responseHeaders, timings } }: { attempt: AppAttempt }) {
  const inMs = (ms: number | null | undefined) => ms != null && formatDuration(ms);
  return (
    <Stack gap="md">
      <Facts
        facts={[
          ["Sent to", request?.remoteAddress],
          ["Body size", request && `${request.bodyBytes.toLocaleString()} bytes`],
          ["DNS lookup", inMs(timings?.lookupMs)],
          ["Connection", inMs(timings?.connectMs) || (request?.remoteAddress && "Reused")],
          ["TLS", inMs(timings?.tlsMs)],
          ["First byte", inMs(timings?.firstByteMs)],
        ]}
      />
      {request && <CopyField label="Request headers" value={toLines(request.headers)} />}
      {responseHeaders && <CopyField label="Response headers" value={toLines(responseHeaders)} />}
    </Stack>
  );
}

function toLines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");
}
