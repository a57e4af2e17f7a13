import { Divider, Group, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { AppEndpoint } from "#contract/app/endpoints.ts";
import { call } from "../api/call.ts";
import { endpointRefreshes } from "../api/endpoints.ts";
import { useAction } from "../hooks/use-action.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { ConfirmDialog } from "../ui/forms/ConfirmDialog.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { nameOf } from "./endpoint-words.ts";

/** Switching it off and on, and deleting it. */
export function EndSection({ endpoint }: { endpoint: AppEndpoint }) {
  const { id, can, paths } = useOrganization();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [asked, setAsked] = useState<"switch" | "delete" | null>(null);
  const close = () => setAsked(null);
  const isOn = endpoint.status === "enabled";
  const name = nameOf(endpoint);
  const target = { organization: id, params: { endpoint: endpoint.id } };
  const change = useAction({
    run: () => call("changeEndpoint", { ...target, body: { isEnabled: !isOn } }),
    refreshes: endpointRefreshes(id),
    says: ({ status }) => `${name} is switched ${status === "enabled" ? "on" : "off"}.`,
    onDone: close,
  });
  const remove = useAction({
    run: () => call("removeEndpoint", target),
    says: () => `${name} is deleted.`,
    // First away from here: this screen has nothing to show any more once the list is read again.
    onDone: () => {
      const refreshed = () => endpointRefreshes(id).map((queryKey) => queries.invalidateQueries({ queryKey }));
      void navigate({ to: paths.webhooks }).then(refreshed);
    },
  });
  return (
    <Section title={isOn ? "Switch off or delete" : "Switch on or delete"}>
      <Stack gap="md">
        <Group justify="space-between" gap="sm">
          <Text size="sm" flex="1 1 18rem">
            {isOn
              ? "Off, it gets nothing. What it misses is kept in the log for 30 days and can be redelivered."
              : "On again, it gets new bookings from then on. What it missed can be redelivered from the log."}
          </Text>
          <ActionButton variant="default" verdict={can("changeEndpoint")} onClick={() => setAsked("switch")}>
            {isOn ? "Switch off" : "Switch on"}
          </ActionButton>
        </Group>
        <Divider color="var(--border)" />
        <Group justify="space-between" gap="sm">
          <Text size="sm" flex="1 1 18rem">
            Deleted, it is gone with its secret. Its deliveries stay in the log for 30 days.
          </Text>
          <ActionButton
            variant="outline"
            color="red"
            verdict={can("removeEndpoint")}
            onClick={() => setAsked("delete")}
          >
            Delete
          </ActionButton>
        </Group>
      </Stack>
      <ConfirmDialog
        isOpen={asked === "switch"}
        title={isOn ? `Switch ${name} off?` : `Switch ${name} on?`}
        confirmLabel={isOn ? "Switch off" : "Switch on"}
        isDangerous={isOn}
        isBusy={change.isPending}
        onConfirm={() => change.mutate()}
        onClose={close}
      >
        {isOn
          ? "Deliveries that wait are canceled, retries too. While it is off, new ones are recorded as canceled."
          : "It gets every booking from now on, with a clean start: what failed before no longer counts. Deliveries that were canceled are not sent by themselves."}
      </ConfirmDialog>
      <ConfirmDialog
        isOpen={asked === "delete"}
        title={`Delete ${name}?`}
        confirmLabel="Delete"
        isBusy={remove.isPending}
        onConfirm={() => remove.mutate()}
        onClose={close}
      >
        Deliveries that wait are canceled, and nothing can be redelivered to it any more. This cannot be undone.
      </ConfirmDialog>
    </Section>
  );
}
