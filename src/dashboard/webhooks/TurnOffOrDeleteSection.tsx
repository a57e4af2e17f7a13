import { Divider, Group, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { AppEndpoint } from "#contract/app/endpoints.ts";
import { DELIVERY_LOG_DAYS } from "#contract/webhooks/delivery.ts";
import { call } from "../api/call.ts";
import { endpointRefreshes } from "../api/queries.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ConfirmButton } from "../ui/forms/ConfirmDialog.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { nameOf } from "./endpoint-words.ts";

export function TurnOffOrDeleteSection({ endpoint }: { endpoint: AppEndpoint }) {
  return (
    <Section title={endpoint.status === "enabled" ? "Turn off or delete" : "Turn on or delete"}>
      <Stack gap="md">
        <SwitchRow endpoint={endpoint} />
        <Divider color="var(--border)" />
        <DeleteRow endpoint={endpoint} />
      </Stack>
    </Section>
  );
}

function SwitchRow({ endpoint }: { endpoint: AppEndpoint }) {
  const { id, can } = useOrganization();
  const isOn = endpoint.status === "enabled";
  const name = nameOf(endpoint);
  return (
    <Group justify="space-between" gap="sm">
      <Text size="sm" flex="1 1 18rem">
        {isOn
          ? `When off, nothing is sent. Missed events stay in the log for ${DELIVERY_LOG_DAYS} days and can be redelivered.`
          : "When on, new bookings are sent. Missed events can be redelivered from the log."}
      </Text>
      <ConfirmButton
        label={isOn ? "Turn off endpoint" : "Turn on endpoint"}
        button={{ variant: "default", verdict: can(isOn ? "changeEndpoint" : "editEndpoint") }}
        title={isOn ? `Turn off ${name}?` : `Turn on ${name}?`}
        isDangerous={isOn}
        action={{
          run: () =>
            call("changeEndpoint", { organization: id, params: { endpoint: endpoint.id }, body: { isEnabled: !isOn } }),
          refreshes: endpointRefreshes(id),
          successMessage: ({ status }) => `${name} turned ${status === "enabled" ? "on" : "off"}`,
        }}
      >
        {isOn
          ? "Queued deliveries and retries are cancelled. While the endpoint is off, new deliveries are logged as cancelled."
          : "New bookings will be sent again, and the failure count is reset. Cancelled deliveries aren’t sent unless you redeliver them."}
      </ConfirmButton>
    </Group>
  );
}

function DeleteRow({ endpoint }: { endpoint: AppEndpoint }) {
  const { id, can, paths } = useOrganization();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const name = nameOf(endpoint);
  return (
    <Group justify="space-between" gap="sm">
      <Text size="sm" flex="1 1 18rem">
        Deleting an endpoint also deletes its secret. Its deliveries stay in the log for {DELIVERY_LOG_DAYS} days.
      </Text>
      <ConfirmButton
        label="Delete endpoint"
        button={{ variant: "outline", color: "red", verdict: can("deleteEndpoint") }}
        title={`Delete ${name}?`}
        action={{
          run: () => call("deleteEndpoint", { organization: id, params: { endpoint: endpoint.id } }),
          successMessage: () => `${name} deleted`,
          // Leave first: after the refresh this screen has nothing to show.
          onDone: () => {
            const refreshed = () => endpointRefreshes(id).map((queryKey) => queries.invalidateQueries({ queryKey }));
            void navigate({ to: paths.webhooks }).then(refreshed);
          },
        }}
      >
        Queued deliveries are cancelled, and earlier ones can no longer be redelivered. This can’t be undone.
      </ConfirmButton>
    </Group>
  );
}
