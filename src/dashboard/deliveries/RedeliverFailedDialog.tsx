import { Checkbox, Modal, Select, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { DELIVERY_LOG_DAYS } from "#contract/delivery.ts";
import { call } from "../api/call.ts";
import { endpointRefreshes, endpointsQuery } from "../api/endpoints.ts";
import { formatZone, pluralize } from "../format.ts";
import { useAction } from "../hooks/use-action.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { FormButtons } from "../ui/forms/FormButtons.tsx";
import { FormFault } from "../ui/forms/FormFault.tsx";
import { nameOf } from "../webhooks/endpoint-words.ts";
import { instantAgo, toInstant, toLocalTime } from "../zoned-time.ts";

type RedeliverFailedProps = {
  isOpen: boolean;
  /** Preselected endpoint, or an empty string. */
  endpointId: string;
  onClose: () => void;
};

/** Redelivers all failed deliveries of an endpoint since a given time. */
export function RedeliverFailedDialog({ isOpen, ...props }: RedeliverFailedProps) {
  return (
    <Modal opened={isOpen} onClose={props.onClose} title="Redeliver failed deliveries">
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
    initialValues: { id: endpointId, since: toLocalTime(instantAgo(1, "day"), timeZone), missed: false },
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
      count === 0 ? "No failed deliveries since then" : `${pluralize(count, "delivery", "deliveries")} queued`,
    onDone: onClose,
  });
  return (
    <form onSubmit={form.onSubmit((values) => redeliver.mutate(values))}>
      <Stack gap="md">
        <Text size="sm">
          Each failed delivery gets one more attempt, with the same content and a new signature. Receivers that check
          the event ID ignore duplicates.
        </Text>
        <FormFault error={redeliver.error} />
        <Select
          label="Endpoint"
          data={enabled.map((each) => ({ value: each.id, label: nameOf(each) }))}
          nothingFoundMessage="All endpoints are off"
          placeholder="Choose an endpoint"
          allowDeselect={false}
          required
          {...form.getInputProps("id")}
        />
        <TextInput
          type="datetime-local"
          label="Created since"
          description={`In ${formatZone(timeZone)} time. The log goes back ${DELIVERY_LOG_DAYS} days.`}
          required
          {...form.getInputProps("since")}
        />
        <Checkbox
          label="Include events missed while the endpoint was off"
          description="They’re listed as cancelled in the log."
          {...form.getInputProps("missed", { type: "checkbox" })}
        />
        <FormButtons label="Redeliver" isBusy={redeliver.isPending} onCancel={onClose} />
      </Stack>
    </form>
  );
}
