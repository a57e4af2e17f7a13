import { Anchor, Stack, Text } from "@mantine/core";
import { IconExternalLink } from "@tabler/icons-react";
import type { BookingDetail } from "#contract/app/bookings.ts";
import { formatIn, formatZone } from "../format.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { TextLink } from "../ui/layout/links.tsx";
import { Facts, Section } from "../ui/layout/Section.tsx";

export function AppointmentSection({ booking }: { booking: BookingDetail }) {
  const { format, paths } = useOrganization();
  const { start, end, timeZone } = booking;
  return (
    <Section title="Appointment">
      <Facts
        facts={[
          ["Service", booking.service.name],
          ["Staff", booking.staff.join(", ")],
          ["When", `${format.dateTime(start)} – ${format.time(end)}`],
          ["Customer’s time", timeZone !== format.timeZone && describeElsewhere(start, timeZone)],
          ["Booked", format.dateTime(booking.createdAt)],
          [
            "Widget",
            <TextLink key="widget" to={paths.widget(booking.widget.id)} inherit>
              {booking.widget.name || booking.widget.id}
            </TextLink>,
          ],
          ["ID in scheduling system", booking.externalId],
          ["Appointment page", booking.manageUrl && <OutsideLink href={booking.manageUrl}>Manage booking</OutsideLink>],
          ["Meeting", booking.joinUrl && <OutsideLink href={booking.joinUrl}>Join meeting</OutsideLink>],
        ]}
      />
    </Section>
  );
}

export function CustomerSection({ customer }: { customer: NonNullable<BookingDetail["customer"]> }) {
  return (
    <Section title="Customer">
      <Facts
        facts={[
          ["Name", customer.name],
          [
            "Email",
            <Anchor key="email" href={`mailto:${customer.email}`} inherit>
              {customer.email}
            </Anchor>,
          ],
          [
            "Phone",
            customer.phone && (
              <Anchor href={`tel:${customer.phone.replaceAll(/[^\d+]/g, "")}`} inherit>
                {customer.phone}
              </Anchor>
            ),
          ],
          ["Notes", customer.notes && <span style={{ whiteSpace: "pre-line" }}>{customer.notes}</span>],
        ]}
      />
    </Section>
  );
}

export function AnswersSection({ answers }: { answers: NonNullable<BookingDetail["answers"]> }) {
  if (answers.length === 0) return null;
  return (
    <Section title="Answers">
      <Stack component="dl" gap="sm" m={0}>
        {answers.map(({ questionId, question, answer }) => (
          <div key={questionId}>
            <Text component="dt" size="sm" c="dimmed">
              {question}
            </Text>
            <Text component="dd" size="sm" m={0} style={{ whiteSpace: "pre-line" }}>
              {answer || "–"}
            </Text>
          </div>
        ))}
      </Stack>
    </Section>
  );
}

function OutsideLink({ href, children }: { href: string; children: string }) {
  return (
    <Anchor href={href} target="_blank" rel="noreferrer" inherit>
      {children} <IconExternalLink size={14} stroke={1.6} aria-label="opens in a new tab" />
    </Anchor>
  );
}

function describeElsewhere(start: string, timeZone: string): string {
  return `${formatIn(timeZone).dateTime(start)} (${formatZone(timeZone)})`;
}
