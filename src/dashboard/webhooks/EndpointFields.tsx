import {
  Button,
  Checkbox,
  Group,
  MultiSelect,
  Stack,
  Table,
  TagsInput,
  Text,
  Textarea,
  TextInput,
} from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { CHANNELS, NOT_SET } from "#contract/analytics/dimensions.ts";
import type { FilterTrial } from "#contract/app/endpoints.ts";
import { DELIVERY_LOG_DAYS } from "#contract/webhooks/delivery.ts";
import { ENDPOINT_FILTERS, type EndpointKind } from "#contract/webhooks/endpoint.ts";
import { call } from "../api/call.ts";
import { widgetsQuery } from "../api/queries.ts";
import { EVENT_NAMES } from "../deliveries/delivery-words.ts";
import { pluralize } from "../format.ts";
import { useAction } from "../hooks/use-action.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { FormFault } from "../ui/forms/FormFault.tsx";
import { Collapsible } from "../ui/layout/Collapsible.tsx";
import { type EndpointValues, EXPIRY, toBody, toLimits } from "./endpoint-form.ts";

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

/** Limits an endpoint to some bookings, and shows which of the last events it would have received. */
function FilterFields({ form }: { form: Form }) {
  const { id } = useOrganization();
  const { eventTypes = [] } = toBody({ eventTypes: form.values.eventTypes });
  const trial = useAction({
    run: () => call("tryFilters", { organization: id, body: { eventTypes, ...toLimits(form.values) } }),
    form,
  });
  const isUsed = ENDPOINT_FILTERS.some((name) => form.values[name].length > 0);
  const hasFault = ENDPOINT_FILTERS.some((name) => form.errors[name] !== undefined);
  return (
    <Collapsible label="Filters" isOpen={isUsed || hasFault}>
      <Stack gap="md">
        <MultiSelect
          label="Channels"
          placeholder={form.values.channels.length === 0 ? "All channels" : ""}
          data={[...CHANNELS, NOT_SET]}
          searchable
          clearable
          {...form.getInputProps("channels")}
        />
        <TagsInput
          label="Services"
          description="Names or IDs. Press Enter after each one. Leave empty for all."
          clearable
          {...form.getInputProps("services")}
        />
        <TagsInput
          label="Sources"
          description="For example google, or google / cpc."
          clearable
          {...form.getInputProps("sources")}
        />
        <TagsInput label="Campaigns" clearable {...form.getInputProps("campaigns")} />
        <Group gap="sm">
          <Button variant="default" loading={trial.isPending} onClick={() => trial.mutate()}>
            Try on recent events
          </Button>
          <Text size="sm" c="dimmed">
            Nothing is sent. Erased bookings are always reported.
          </Text>
        </Group>
        <FormFault error={trial.error} />
        <div role="status">{trial.data && <Trial trial={trial.data} />}</div>
      </Stack>
    </Collapsible>
  );
}

const SHOWN_MAX = 10;

function Trial({ trial: { events, matching } }: { trial: FilterTrial }) {
  const { format } = useOrganization();
  if (events.length === 0)
    return <Text size="sm">No events in the last {DELIVERY_LOG_DAYS} days to try the filters on.</Text>;
  const shown = events.filter(({ matches }) => matches).slice(0, SHOWN_MAX);
  return (
    <Stack gap="xs">
      <Text size="sm">
        {matching} of the last {pluralize(events.length, "event")} would be sent.
      </Text>
      {shown.length > 0 && (
        <Table.ScrollContainer minWidth={0}>
          <Table aria-label="Matching events">
            <Table.Tbody>
              {shown.map((event) => (
                <Table.Tr key={event.id}>
                  <Table.Td>{format.dateTime(event.createdAt)}</Table.Td>
                  <Table.Td>{[EVENT_NAMES[event.type], event.service].filter(Boolean).join(": ")}</Table.Td>
                  <Table.Td>{[event.channel, event.source, event.campaign].filter(Boolean).join(", ")}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Stack>
  );
}
