import { Stack, Text } from "@mantine/core";
import type { AppDeliveryDetail } from "#contract/app/deliveries.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { CopyField } from "../ui/copy/CopyField.tsx";
import { Section } from "../ui/layout/Section.tsx";

export function RequestSection({ delivery }: { delivery: AppDeliveryDetail }) {
  const { can } = useOrganization();
  const verdict = can("seeCustomers");
  const { body, isErased, endpoint } = delivery;
  return (
    <Section title="Request" description={endpoint.kind === "webhook" ? SIGNED : UNSIGNED}>
      <Stack gap="md">
        <CopyField label="Headers" value={toHeaders(delivery)} />
        {body === null ? (
          <Text size="sm" c="dimmed">
            {isErased
              ? "The body was erased with its booking."
              : "The body holds a customer’s data, which viewers do not see."}
          </Text>
        ) : (
          verdict.isAllowed && <CopyField label="Body" value={toPretty(body)} />
        )}
      </Stack>
    </Section>
  );
}

const SIGNED = "The same bytes in every attempt; only the signature is made anew.";
const UNSIGNED = "The same bytes in every attempt. Cards are not signed.";

/** As server/webhooks/delivery/guarded-send.ts writes them. Cards are not signed. */
function toHeaders({ id, event, endpoint }: AppDeliveryDetail): string {
  const lines = ["Content-Type: application/json", "User-Agent: Service-Webhooks/1.0 (+…)"];
  if (endpoint.kind === "webhook")
    lines.push(`Service-Event: ${event.type}`, `Service-Delivery: ${id}`, "Service-Signature: t=…,v1=…");
  return lines.join("\n");
}

function toPretty(body: string): string {
  return JSON.stringify(JSON.parse(body), null, 2);
}
