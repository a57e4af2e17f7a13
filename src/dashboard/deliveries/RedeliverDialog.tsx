import { Checkbox, Select, Stack, Text, TextInput } from "@mantine/core";
import { type UseFormReturnType, useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { NewRedelivery } from "#contract/app/deliveries.ts";
import type { AppEndpoint } from "#contract/app/endpoints.ts";
import {
  ATTEMPT_ERROR_CODES,
  type AttemptErrorCode,
  DELIVERY_LOG_DAYS,
  REDELIVERABLE_STATES,
  type RedeliverableState,
} from "#contract/webhooks/delivery.ts";
import { call } from "../api/call.ts";
import { endpointRefreshes, endpointsQuery, widgetsQuery } from "../api/queries.ts";
import { instantAgo, toInstant, toLocalTime } from "../days.ts";
import { formatZone, pluralize } from "../format.ts";
import { useAction } from "../hooks/use-action.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionForm } from "../ui/forms/ActionForm.tsx";
import { FormDialog } from "../ui/forms/FormDialog.tsx";
import { nameOf } from "../webhooks/endpoint-words.ts";
import { type DeliveryFilters, NO_FILTERS, toRange } from "./delivery-filters.ts";
import { ERROR_NAMES } from "./delivery-words.ts";

type RedeliverProps = {
  isOpen: boolean;
  /** Preselected. */
  filters: Partial<DeliveryFilters>;
  onClose: () => void;
};

export function RedeliverDialog({ isOpen, ...props }: RedeliverProps) {
  return (
    <FormDialog opened={isOpen} onClose={props.onClose} title="Bulk redelivery">
      <RedeliverForm {...props} />
    </FormDialog>
  );
}

const STATES: Record<RedeliverableState, { label: string; description?: string }> = {
  failed: { label: "Failed" },
  canceled: { label: "Cancelled", description: "For example, missed while the endpoint was off." },
  delivered: { label: "Delivered", description: "Receivers that check the event ID ignore duplicates." },
};

type RedeliverValues = { endpoint: string; widget: string; error: string; states: string[]; from: string; to: string };

function toBody({ endpoint, widget, error, states, from, to }: RedeliverValues, timeZone: string): NewRedelivery {
  const until = to === "" ? null : toInstant(to, timeZone);
  return {
    // The fields have no other values.
    states: states as RedeliverableState[],
    from: toInstant(from, timeZone) ?? "",
    ...(until === null ? {} : { to: until }),
    ...(endpoint === "" ? {} : { endpoint }),
    ...(widget === "" ? {} : { widget }),
    ...(error === "" ? {} : { error: error as AttemptErrorCode }),
  };
}

function RedeliverForm({ filters, onClose }: Omit<RedeliverProps, "isOpen">) {
  const { id, details } = useOrganization();
  const { timeZone } = details;
  const endpoints = useQuery(endpointsQuery(id));
  // The filtered endpoint stays chosen even if it is off: switching to all endpoints would send more than intended.
  const offered = (endpoints.data?.data ?? []).filter(
    (each) => each.status === "enabled" || each.id === filters.endpoint,
  );
  const range = toRange({ ...NO_FILTERS, ...filters }, timeZone);
  const form = useForm<RedeliverValues>({
    initialValues: {
      endpoint: filters.endpoint ?? "",
      widget: filters.widget ?? "",
      error: filters.error ?? "",
      states: REDELIVERABLE_STATES.some((state) => state === filters.state) ? [filters.state ?? ""] : ["failed"],
      from: toLocalTime(range.from ?? instantAgo(1, "day"), timeZone),
      to: range.to === undefined ? "" : toLocalTime(range.to, timeZone),
    },
  });
  const [matched, setMatched] = useState<number | null>(null);
  const count = useAction({
    run: (values: RedeliverValues) => call("countRedelivery", { organization: id, body: toBody(values, timeZone) }),
    form,
    onDone: (counted) => setMatched(counted.matched),
  });
  if (matched !== null)
    return <ConfirmStep values={form.values} matched={matched} onBack={() => setMatched(null)} onClose={onClose} />;
  return (
    <ActionForm form={form} action={count} label="Count deliveries" onCancel={onClose}>
      <Text size="sm">
        Matching deliveries are sent again with the same content and a new signature, and retried like new ones.
      </Text>
      <RedeliverFields form={form} endpoints={offered} />
    </ActionForm>
  );
}

type ConfirmProps = { values: RedeliverValues; matched: number; onBack: () => void; onClose: () => void };

/** Nothing is sent before someone has seen how much it is. */
function ConfirmStep({ values, matched, onBack, onClose }: ConfirmProps) {
  const { id, details } = useOrganization();
  const deliveries = pluralize(matched, "delivery", "deliveries");
  const form = useForm({ initialValues: values });
  const redeliver = useAction({
    run: (chosen: RedeliverValues) =>
      call("startRedelivery", { organization: id, body: toBody(chosen, details.timeZone) }),
    form,
    refreshes: endpointRefreshes(id),
    successMessage: (started) => `Redelivering ${pluralize(started.matched, "delivery", "deliveries")}`,
    onDone: onClose,
  });
  return (
    <ActionForm
      form={form}
      action={redeliver}
      label={matched === 0 ? "Redeliver" : `Redeliver ${deliveries}`}
      cancelLabel="Back"
      isReady={matched > 0}
      onCancel={onBack}
    >
      <Text size="sm" role="status">
        {matched === 0
          ? "No deliveries match. Nothing will be sent."
          : `${deliveries} will be sent again. Receivers that don’t check the event ID may process them twice.`}
      </Text>
    </ActionForm>
  );
}

type FieldsProps = { form: UseFormReturnType<RedeliverValues>; endpoints: readonly AppEndpoint[] };

function RedeliverFields({ form, endpoints }: FieldsProps) {
  const { id, details } = useOrganization();
  const { timeZone } = details;
  const widgets = useQuery(widgetsQuery(id));
  return (
    <>
      <Select
        label="Endpoint"
        data={[
          { value: "", label: "All endpoints that are on" },
          ...endpoints.map((each) => ({ value: each.id, label: nameOf(each) })),
        ]}
        allowDeselect={false}
        {...form.getInputProps("endpoint")}
      />
      <Checkbox.Group label="Status" {...form.getInputProps("states")}>
        <Stack gap="xs" mt="xs">
          {REDELIVERABLE_STATES.map((state) => (
            <Checkbox key={state} value={state} {...STATES[state]} />
          ))}
        </Stack>
      </Checkbox.Group>
      <TextInput
        type="datetime-local"
        label="Created since"
        description={`Times in ${formatZone(timeZone)}. The log goes back ${DELIVERY_LOG_DAYS} days.`}
        required
        {...form.getInputProps("from")}
      />
      <TextInput type="datetime-local" label="Created before" description="Optional." {...form.getInputProps("to")} />
      <Select
        label="Last error"
        data={[
          { value: "", label: "Any" },
          ...ATTEMPT_ERROR_CODES.map((code) => ({ value: code, label: ERROR_NAMES[code] })),
        ]}
        allowDeselect={false}
        {...form.getInputProps("error")}
      />
      <Select
        label="Widget"
        data={[
          { value: "", label: "All widgets" },
          ...(widgets.data?.data ?? []).map((widget) => ({ value: widget.id, label: widget.name })),
        ]}
        allowDeselect={false}
        {...form.getInputProps("widget")}
      />
    </>
  );
}
