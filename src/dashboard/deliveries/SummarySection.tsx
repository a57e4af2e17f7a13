import type { AppDeliveryDetail } from "#contract/app/deliveries.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { CopyId } from "../ui/copy/CopyField.tsx";
import { TextLink } from "../ui/layout/links.tsx";
import { type Fact, Facts, Section } from "../ui/layout/Section.tsx";
import { nameOf } from "../webhooks/endpoint-words.ts";
import { CANCEL_WORDS, EVENT_NAMES } from "./delivery-words.ts";

export function SummarySection({ delivery }: { delivery: AppDeliveryDetail }) {
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
