import { Alert, Button, Group, Loader, Modal, Stack, Text } from "@mantine/core";
import { IconCheck, IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import type { AppDeliveryDetail } from "#contract/app/deliveries.ts";
import type { AppEndpoint } from "#contract/app/endpoints.ts";
import { describeAttempt } from "#contract/webhooks/delivery.ts";
import { call } from "../api/call.ts";
import { deliveryQuery } from "../api/deliveries.ts";
import { endpointRefreshes } from "../api/queries.ts";
import { formatDuration } from "../deliveries/delivery-words.ts";
import { useAction } from "../hooks/use-action.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { CopyField } from "../ui/copy/CopyField.tsx";
import { FormFault } from "../ui/forms/FormFault.tsx";
import { ButtonLink } from "../ui/layout/links.tsx";
import { nameOf } from "./endpoint-words.ts";

export function TestDialog({ endpoint, onClose }: { endpoint: AppEndpoint | null; onClose: () => void }) {
  return (
    <Modal opened={endpoint !== null} onClose={onClose} title={endpoint ? `Test ${nameOf(endpoint)}` : ""} size="lg">
      {endpoint && <Test key={endpoint.id} endpoint={endpoint} onClose={onClose} />}
    </Modal>
  );
}

function Test({ endpoint, onClose }: { endpoint: AppEndpoint; onClose: () => void }) {
  const { id, paths } = useOrganization();
  const test = useAction({
    run: () => call("testEndpoint", { organization: id, params: { endpoint: endpoint.id } }),
    isQuiet: true,
    refreshes: endpointRefreshes(id),
  });
  const { mutate } = test;
  useEffect(() => mutate(), [mutate]);
  const deliveryId = test.data?.deliveryId;
  const delivery = useQuery({ ...deliveryQuery(id, deliveryId ?? ""), enabled: deliveryId !== undefined });
  const hasFailed = test.isError || delivery.isLoadingError;
  const isOver = delivery.data !== undefined && delivery.data.pending === null && !delivery.data.isInFlight;
  return (
    <Stack gap="md">
      <Text size="sm">{MEANINGS[endpoint.kind]}</Text>
      <FormFault error={test.error ?? delivery.error} />
      <div role="status">
        {isOver ? (
          <TestResult delivery={delivery.data} />
        ) : (
          !hasFailed && (
            <Group gap="sm" py="md">
              <Loader size="sm" aria-hidden />
              <Text size="sm">Sending to {URL.parse(endpoint.url)?.host}…</Text>
            </Group>
          )
        )}
      </div>
      <Group justify="flex-end" gap="xs">
        {isOver && deliveryId !== undefined && (
          <ButtonLink variant="subtle" to={paths.delivery(deliveryId)}>
            View in log
          </ButtonLink>
        )}
        <Button variant="default" disabled={!isOver && !hasFailed} onClick={() => test.mutate()}>
          Send another test
        </Button>
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}

const MEANINGS: Record<AppEndpoint["kind"], string> = {
  webhook: "Sends a signed endpoint.test event without customer data. It isn’t retried.",
  teams: "Posts a card without customer data. It isn’t retried.",
  slack: "Posts a message without customer data. It isn’t retried.",
};

function TestResult({ delivery }: { delivery: AppDeliveryDetail }) {
  const [attempt] = delivery.attempts;
  const isDelivered = delivery.state === "delivered";
  const duration = attempt?.durationMs == null ? "" : ` (${formatDuration(attempt.durationMs)})`;
  return (
    <Stack gap="md">
      <Alert
        color={isDelivered ? "green" : "red"}
        icon={isDelivered ? <IconCheck size={20} /> : <IconX size={20} />}
        title={isDelivered ? "Test delivered" : "Test failed"}
      >
        {attempt
          ? `${describeAttempt({ ...attempt, kind: delivery.endpoint.kind })}${duration}.`
          : "The test was cancelled before it was sent."}
      </Alert>
      {attempt?.reply && <CopyField label="Response" value={attempt.reply} />}
    </Stack>
  );
}
