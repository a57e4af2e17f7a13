import { Text } from "@mantine/core";
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
      {body === null ? (
        <Text size="sm" c="dimmed">
          {isErased
            ? "The body was erased together with the booking."
            : "Viewers can’t see the body because it contains customer data."}
        </Text>
      ) : (
        verdict.isAllowed && <CopyField label="Body" value={toPretty(body)} isJson />
      )}
    </Section>
  );
}

const SIGNED = "Every attempt sends the same body with a new signature. Each attempt’s headers are above.";
const UNSIGNED = "Every attempt sends the same body. Chat cards aren’t signed.";

function toPretty(body: string): string {
  return JSON.stringify(JSON.parse(body), null, 2);
}
