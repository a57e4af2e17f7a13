import { Checkbox, MultiSelect, Stack, Textarea, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import type { EndpointKind } from "#contract/endpoint.ts";
import { widgetsQuery } from "../api/queries.ts";
import { EVENT_NAMES } from "../deliveries/delivery-words.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { Collapsible } from "../ui/layout/Collapsible.tsx";
import { type EndpointValues, EXPIRY } from "./endpoint-form.ts";
import { FilterFields } from "./FilterFields.tsx";

type Form = Pick<
  UseFormReturnType<EndpointValues>,
  "getInputProps" | "getInputNode" | "values" | "errors" | "setErrors"
>;

/** What an endpoint gets, and how. Teams and Slack endpoints get cards about bookings that exist, and have no headers. */
export function EndpointFields({ form, kind }: { form: Form; kind: EndpointKind }) {
  const { id } = useOrganization();
  const widgets = useQuery(widgetsQuery(id));
  const isWebhook = kind === "webhook";
  return (
    <Stack gap="md">
      <MultiSelect
        label="Widgets"
        description="Only bookings from these widgets are sent. Leave empty for all."
        placeholder={form.values.widgetIds.length === 0 ? "All widgets" : ""}
        data={(widgets.data?.data ?? []).map((widget) => ({ value: widget.id, label: widget.name }))}
        clearable
        {...form.getInputProps("widgetIds")}
      />
      <FilterFields form={form} />
      <EventFields form={form} isWebhook={isWebhook} />
      <Collapsible
        label="More options"
        isOpen={form.errors["headers"] !== undefined || form.errors["requestsPerMinute"] !== undefined}
      >
        <Stack gap="md">
          {isWebhook && (
            <Textarea
              label="Custom headers"
              description="One per line, for example Authorization: Bearer abc. Values are encrypted and never shown again. To keep a saved value, leave the dots (…) in its place."
              autosize
              minRows={2}
              spellCheck={false}
              styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
              {...form.getInputProps("headers")}
            />
          )}
          <TextInput
            label="Requests per minute"
            description="Leave empty for no limit."
            inputMode="numeric"
            autoComplete="off"
            {...form.getInputProps("requestsPerMinute")}
          />
        </Stack>
      </Collapsible>
    </Stack>
  );
}

function EventFields({ form, isWebhook }: { form: Form; isWebhook: boolean }) {
  const wantsErased = form.values.eventTypes.includes("booking.erased");
  return (
    <Checkbox.Group label="Events" {...form.getInputProps("eventTypes")}>
      <Stack gap="xs" mt="xs">
        <Checkbox value="booking.created" label={EVENT_NAMES["booking.created"]} />
        <Checkbox value="booking.cancelled" label={EVENT_NAMES["booking.cancelled"]} />
        <Checkbox value="booking.rescheduled" label={EVENT_NAMES["booking.rescheduled"]} />
        {isWebhook && (
          <>
            <Checkbox
              value="booking.erased"
              label={EVENT_NAMES["booking.erased"]}
              description="Lets your software delete its copy. Contains no customer data."
            />
            <Checkbox value={EXPIRY} label="Also send at the end of retention" disabled={!wantsErased} ms="xl" />
          </>
        )}
      </Stack>
    </Checkbox.Group>
  );
}
