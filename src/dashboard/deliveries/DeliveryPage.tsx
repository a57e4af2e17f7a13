import { Group, Text } from "@mantine/core";
import { IconSearchOff } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { AppDelivery, AppDeliveryDetail } from "#contract/app/deliveries.ts";
import { DELIVERY_LOG_DAYS } from "#contract/webhooks/delivery.ts";
import { call } from "../api/call.ts";
import { isNotFound } from "../api/client.ts";
import { deliveriesKey, deliveryQuery, isPending } from "../api/deliveries.ts";
import type { Verdict } from "../can.ts";
import { useAction } from "../hooks/use-action.ts";
import { type OrganizationScope, useOrganization } from "../shell/use-organization.ts";
import { CopyField, CopyId } from "../ui/copy/CopyField.tsx";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { ConfirmButton } from "../ui/forms/ConfirmDialog.tsx";
import { TextLink } from "../ui/layout/links.tsx";
import { Page } from "../ui/layout/Page.tsx";
import { type Fact, Facts, Section } from "../ui/layout/Section.tsx";
import { NotFoundNote } from "../ui/states/EmptyState.tsx";
import { Loaded, LoadingCard, StaleNotice } from "../ui/states/Loaded.tsx";
import { nameOf } from "../webhooks/endpoint-words.ts";
import { ModeBadge } from "../widgets/mode/ModeBadge.tsx";
import { AttemptsSection } from "./AttemptsSection.tsx";
import { StateBadge } from "./DeliveryTable.tsx";
import { CANCEL_WORDS, EVENT_NAMES } from "./delivery-words.ts";

export function DeliveryPage() {
  const { id, paths } = useOrganization();
  const { delivery: wanted } = useParams({ strict: false }) as { delivery: string };
  const delivery = useQuery(deliveryQuery(id, wanted));
  const shown = isNotFound(delivery.error) ? undefined : delivery.data;
  const missing = (
    <NotFoundNote
      icon={IconSearchOff}
      title="Delivery not found"
      list={{ to: paths.deliveries, label: "Go to deliveries" }}
    >
      The log keeps deliveries for {DELIVERY_LOG_DAYS} days.
    </NotFoundNote>
  );
  return (
    <Page
      title={shown ? toTitle(shown) : "Delivery"}
      description={shown && `To ${nameOf(shown.endpoint)}`}
      back={{ to: paths.deliveries, label: "Deliveries" }}
      mark={
        shown && (
          <Group gap={6} role="status">
            <StateBadge delivery={shown} size="lg" />
            {shown.mode !== null && shown.mode !== "live" && <ModeBadge mode={shown.mode} />}
          </Group>
        )
      }
      actions={shown && <SendButton key={wanted} delivery={shown} />}
    >
      <StaleNotice query={delivery} />
      <Loaded query={delivery} placeholder={<LoadingCard />} missing={missing}>
        {(data) => (
          <>
            <SummarySection delivery={data} />
            <AttemptsSection delivery={data} />
            <RequestSection delivery={data} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** Retries a delivery that is waiting for its next attempt, and redelivers any other. */
function SendButton({ delivery }: { delivery: AppDeliveryDetail }) {
  const { id, can } = useOrganization();
  const retry = useAction({
    run: () => call("retryDelivery", { organization: id, params: { delivery: delivery.id } }),
    refreshes: [deliveriesKey(id)],
    successMessage: () => "Retrying now",
  });
  if (delivery.state === "retrying" && delivery.pending === "automatic")
    return (
      <ActionButton verdict={retryVerdict(can, delivery)} loading={retry.isPending} onClick={() => retry.mutate()}>
        Retry now
      </ActionButton>
    );
  return (
    <ConfirmButton
      label="Redeliver event"
      button={{ verdict: redeliverVerdict(can, delivery) }}
      title="Redeliver this event?"
      isDangerous={false}
      action={{
        run: () => call("redeliver", { organization: id, params: { delivery: delivery.id } }),
        refreshes: [deliveriesKey(id)],
        successMessage: () => "Redelivery queued",
      }}
    >
      Sends the same content to {nameOf(delivery.endpoint)} once more, with the same delivery ID and a new signature. If
      the attempt fails, it isn’t retried.
    </ConfirmButton>
  );
}

function toTitle({ event, reference }: AppDeliveryDetail): string {
  if (event.type === "endpoint.test") return "Test delivery";
  if (event.type === "booking.erased") return `Erasure of ${reference}`;
  return reference === null ? "Delivery of an erased booking" : `Delivery of ${reference}`;
}

/** Whether a delivery can be redelivered, by the same rules as server/webhooks/log/resend.ts. */
export function redeliverVerdict(can: OrganizationScope["can"], delivery: AppDelivery): Verdict {
  const verdict = can("redeliver");
  if (!verdict.isAllowed) return verdict;
  if (delivery.isErased) return refuse("The booking was erased, so there is nothing left to send.");
  if (delivery.endpoint.isRemoved) return refuse("The endpoint was deleted.");
  if (isPending(delivery)) return refuse("Already queued.");
  return verdict;
}

/** Whether a delivery that is retrying can be retried now, by the same rules as server/webhooks/log/resend.ts. */
export function retryVerdict(can: OrganizationScope["can"], delivery: AppDelivery): Verdict {
  const verdict = can("retryDelivery");
  if (!verdict.isAllowed) return verdict;
  return delivery.isInFlight ? refuse("Already being sent.") : verdict;
}

function refuse(reason: string): Verdict {
  return { isAllowed: false, reason };
}

export function RequestSection({ delivery }: { delivery: AppDeliveryDetail }) {
  const { can } = useOrganization();
  const verdict = can("seeCustomers");
  const { body, isErased, endpoint } = delivery;
  return (
    <Section title="Request" description={endpoint.kind === "webhook" ? SIGNED : UNSIGNED}>
      {body === null ? (
        <Text size="sm" c="dimmed">
          {isErased
            ? "The body was erased together with the booking."
            : "Viewers can’t see the body because it contains customer data."}
        </Text>
      ) : (
        verdict.isAllowed && <CopyField label="Body" value={JSON.stringify(JSON.parse(body), null, 2)} isJson />
      )}
    </Section>
  );
}

const SIGNED = "Every attempt sends the same body with a new signature. Each attempt’s headers are above.";
const UNSIGNED = "Every attempt sends the same body. Chat cards aren’t signed.";

function SummarySection({ delivery }: { delivery: AppDeliveryDetail }) {
  const { format, paths } = useOrganization();
  const { endpoint, event, reference, nextAttemptAt, completedAt, cancelReason, pending } = delivery;
  const facts: Fact[] = [
    ["Event", EVENT_NAMES[event.type]],
    ["Endpoint", <EndpointLink key="endpoint" endpoint={endpoint} />],
    [
      "Booking",
      reference !== null && (
        <TextLink key="booking" to={paths.booking(reference)} inherit>
          {reference}
        </TextLink>
      ),
    ],
    ["Created", format.exact(delivery.createdAt)],
    ["Finished", completedAt !== null && format.exact(completedAt)],
    ["Next attempt", pending !== null && nextAttemptAt !== null && format.exact(nextAttemptAt)],
    ["Cancellation reason", cancelReason !== null && CANCEL_WORDS[cancelReason]],
    ["Retries", event.type !== "endpoint.test" && countRetries(delivery)],
    ["Delivery ID", <CopyId key="id" value={delivery.id} label="Copy delivery ID" />],
    ["Event ID", <CopyId key="event" value={event.id} label="Copy event ID" />],
  ];
  return (
    <Section title="Summary">
      <Facts facts={facts} />
    </Section>
  );
}

/** Automatic attempts after the first one. */
function countRetries({ attempts }: AppDeliveryDetail): number {
  return Math.max(0, attempts.filter(({ trigger }) => trigger !== "manual").length - 1);
}

function EndpointLink({ endpoint }: Pick<AppDeliveryDetail, "endpoint">) {
  const { paths } = useOrganization();
  if (endpoint.isRemoved) return `${nameOf(endpoint)} (deleted)`;
  return (
    <TextLink to={paths.endpoint(endpoint.id)} inherit>
      {nameOf(endpoint)}
    </TextLink>
  );
}
