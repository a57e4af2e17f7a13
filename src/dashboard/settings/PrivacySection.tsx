import { List } from "@mantine/core";
import { DELIVERY_LOG_DAYS } from "#contract/delivery.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { TextLink } from "../ui/layout/links.tsx";
import { Section } from "../ui/layout/Section.tsx";

/** Describes what retention/, funnel/ and bookings/ of the server store and delete. */
export function PrivacySection() {
  const { details, paths } = useOrganization();
  return (
    <Section title="Data and privacy" description="What Bookflow stores about visitors and customers.">
      <List spacing="xs" size="sm">
        <List.Item>
          <b>Visits</b> are counted without tracking cookies: step, page, source, device and country. IP addresses and
          user agents are never stored.
        </List.Item>
        <List.Item>
          <b>Bookings</b> are stored only for{" "}
          <TextLink underline="always" to={paths.widgets}>
            widgets
          </TextLink>{" "}
          with Store bookings on. When it’s off, nothing about the customer is saved, not even briefly.
        </List.Item>
        <List.Item>
          Both are deleted after <b>{details.plan.retention}</b>. The delivery log is kept for {DELIVERY_LOG_DAYS} days.
        </List.Item>
        <List.Item>
          If a customer asks you to delete their data, erase their email address under{" "}
          <TextLink underline="always" to={paths.bookings}>
            Bookings
          </TextLink>
          . That deletes their bookings and the content of the stored webhook deliveries. Your scheduling system isn’t
          changed.
        </List.Item>
      </List>
    </Section>
  );
}
