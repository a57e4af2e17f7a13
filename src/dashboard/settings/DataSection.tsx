import { List } from "@mantine/core";
import { useOrganization } from "../shell/use-organization.ts";
import { TextLink } from "../ui/layout/links.tsx";
import { Section } from "../ui/layout/Section.tsx";

/** What is kept about visitors and customers, and for how long; as retention/, funnel/ and bookings/ of the server do it. */
export function DataSection() {
  const { details, paths } = useOrganization();
  return (
    <Section title="Data and privacy" description="What Bookflow keeps about visitors and customers.">
      <List spacing="xs" size="sm">
        <List.Item>
          <b>Visits</b> are counted without cookies that follow people around: step, page, source, device and country.
          IP addresses and user agents are never stored.
        </List.Item>
        <List.Item>
          <b>Bookings</b> are stored only for{" "}
          <TextLink underline="always" to={paths.widgets}>
            widgets
          </TextLink>{" "}
          with Store bookings on. With it off, nothing about the customer is written down, not even for a moment.
        </List.Item>
        <List.Item>
          Both are deleted within hours once they are older than <b>{details.plan.retention}</b>. The log of webhook
          deliveries is kept for 30 days.
        </List.Item>
        <List.Item>
          Somebody wants to be forgotten? Erase their e-mail address under{" "}
          <TextLink underline="always" to={paths.bookings}>
            Bookings
          </TextLink>
          : that removes their bookings and what was kept of deliveries. Your scheduling system is not touched.
        </List.Item>
      </List>
    </Section>
  );
}
