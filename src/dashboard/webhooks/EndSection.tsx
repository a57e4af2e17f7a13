import { Divider, Group, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { AppEndpoint } from "#contract/app/endpoints.ts";
import { DELIVERY_LOG_DAYS } from "#contract/delivery.ts";
import { call } from "../api/call.ts";
import { endpointRefreshes } from "../api/endpoints.ts";
import { useAction } from "../hooks/use-action.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { ConfirmDialog } from "../ui/forms/ConfirmDialog.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { nameOf } from "./endpoint-words.ts";

/** Turns an endpoint off and on, or deletes it. */
export function EndSection({ endpoint }: { endpoint: AppEndpoint }) {
  const { id, can, paths } = useOrganization();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [asked, setAsked] = useState<"switch" | "delete" | null>(null);
  const close = () => setAsked(null);
  const isOn = endpoint.status === "enabled";
  const switchVerdict = can(isOn ? "changeEndpoint" : "editEndpoint");
  const name = nameOf(endpoint);
  const target = { organization: id, params: { endpoint: endpoint.id } };
  const change = useAction({
    run: () => call("changeEndpoint", { ...target, body: { isEnabled: !isOn } }),
    refreshes: endpointRefreshes(id),
    says: ({ status }) => `${name} turned ${status === "enabled" ? "on" : "off"}`,
    onDone: close,
  });
  const remove = useAction({
    run: () => call("removeEndpoint", target),
    says: () => `${name} deleted`,
    // Leave first: after the refresh this screen has nothing to show.
    onDone: () => {
      const refreshed = () => endpointRefreshes(id).map((queryKey) => queries.invalidateQueries({ queryKey }));
      void navigate({ to: paths.webhooks }).then(refreshed);
    },
  });
  return (
    <Section title={isOn ? "Turn off or delete" : "Turn on or delete"}>
      <Stack gap="md">
        <Group justify="space-between" gap="sm">
          <Text size="sm" flex="1 1 18rem">
            {isOn
              ? `When off, nothing is sent. Missed events stay in the log for ${DELIVERY_LOG_DAYS} days and can be redelivered.`
              : "When on, new bookings are sent. Missed events can be redelivered from the log."}
          </Text>
          <ActionButton variant="default" verdict={switchVerdict} onClick={() => setAsked("switch")}>
            {isOn ? "Turn off endpoint" : "Turn on endpoint"}
          </ActionButton>
        </Group>
        <Divider color="var(--border)" />
        <Group justify="space-between" gap="sm">
          <Text size="sm" flex="1 1 18rem">
            Deleting an endpoint also deletes its secret. Its deliveries stay in the log for {DELIVERY_LOG_DAYS} days.
          </Text>
          <ActionButton
            variant="outline"
            color="red"
            verdict={can("removeEndpoint")}
            onClick={() => setAsked("delete")}
          >
            Delete endpoint
          </ActionButton>
        </Group>
      </Stack>
      <ConfirmDialog
        isOpen={asked === "switch"}
        title={isOn ? `Turn off ${name}?` : `Turn on ${name}?`}
        confirmLabel={isOn ? "Turn off endpoint" : "Turn on endpoint"}
        isDangerous={isOn}
        isBusy={change.isPending}
        onConfirm={() => change.mutate()}
        onClose={close}
      >
        {isOn
          ? "Queued deliveries and retries are cancelled. While the endpoint is off, new deliveries are logged as cancelled."
          : "New bookings will be sent again, and the failure count is reset. Cancelled deliveries aren’t sent unless you redeliver them."}
      </ConfirmDialog>
      <ConfirmDialog
        isOpen={asked === "delete"}
        title={`Delete ${name}?`}
        confirmLabel="Delete endpoint"
        isBusy={remove.isPending}
        onConfirm={() => remove.mutate()}
        onClose={close}
      >
        Queued deliveries are cancelled, and earlier ones can no longer be redelivered. This can’t be undone.
      </ConfirmDialog>
    </Section>
  );
}
