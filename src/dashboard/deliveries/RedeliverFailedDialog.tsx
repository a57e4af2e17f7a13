import { Checkbox, Modal, Select, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { DELIVERY_LOG_DAYS } from "#contract/delivery.ts";
import { call } from "../api/call.ts";
import { endpointRefreshes, endpointsQuery } from "../api/endpoints.ts";
import { pluralize } from "../format.ts";
import { useAction } from "../hooks/use-action.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { FormButtons } from "../ui/forms/FormButtons.tsx";
import { FormFault } from "../ui/forms/FormFault.tsx";
import { nameOf } from "../webhooks/endpoint-words.ts";
import { before, toInstant, toLocalTime } from "../zoned-time.ts";

type RedeliverFailedProps = {
  isOpen: boolean;
  /** Chosen beforehand; empty where it is still to be chosen. */
  endpointId: string;
  onClose: () => void;
};

/** Everything of one endpoint that was given up since a time is sent once more. */
export function RedeliverFailedDialog({ isOpen, ...props }: RedeliverFailedProps) {
  return (
    <Modal opened={isOpen} onClose={props.onClose} title="Redeliver what failed">
      <RedeliverFailedForm {...props} />
    </Modal>
  );
}

function RedeliverFailedForm({ endpointId, onClose }: Omit<RedeliverFailedProps, "isOpen">) {
  const { id, details } = useOrganization();
  const { timeZone } = details;
  const endpoints = useQuery(endpointsQuery(id));
  const enabled = (endpoints.data?.data ?? []).filter(({ status }) => status === "enabled");
  const form = useForm({
    initialValues: { id: endpointId, since: toLocalTime(before(1, "day"), timeZone), missed: false },
  });
  const redeliver = useAction({
    run: ({ id: endpoint, since, missed }: typeof form.values) =>
      call("redeliverFailed", {
        organization: id,
        params: { endpoint },
        body: { since: toInstant(since, timeZone) ?? "", missed },
      }),
    form,
    isQuiet: true,
    refreshes: endpointRefreshes(id),
    says: ({ count }) =>
      count === 0
        ? "Nothing has failed since then."
        : `${pluralize(count, "delivery", "deliveries")} will be redelivered.`,
    onDone: onClose,
  });
  return (
    <form onSubmit={form.onSubmit((values) => redeliver.mutate(values))}>
      <Stack gap="md">
        <Text size="sm">
          Each delivery that was given up gets one more attempt, with the same content and a new signature. Receivers
          that de-duplicate by event id ignore what they already have.
        </Text>
        <FormFault error={redeliver.error} />
        <Select
          label="Endpoint"
          data={enabled.map((each) => ({ value: each.id, label: nameOf(each) }))}
          nothingFoundMessage="No endpoint is on."
          placeholder="Choose one"
          allowDeselect={false}
          required
          {...form.getInputProps("id")}
        />
        <TextInput
          type="datetime-local"
          label="Made since"
          description={`In the time zone ${timeZone}. The log goes back ${DELIVERY_LOG_DAYS} days.`}
          required
          {...form.getInputProps("since")}
        />
        <Checkbox
          label="Also what it missed while it was off"
          description="Those deliveries stand in the log as canceled."
          {...form.getInputProps("missed", { type: "checkbox" })}
        />
        <FormButtons label="Redeliver" isBusy={redeliver.isPending} onCancel={onClose} />
      </Stack>
    </form>
  );
}
