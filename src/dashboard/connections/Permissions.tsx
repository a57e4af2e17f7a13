import { List, Text } from "@mantine/core";
import type { ConnectionKind } from "#contract/scheduling.ts";
import { Fold } from "../ui/layout/Fold.tsx";

/** What to set up in the scheduling system first, and what Bookflow can do with it. */
export function Permissions({ kind }: { kind: ConnectionKind }) {
  const Needs = NEEDS[kind];
  return (
    <Fold label="What you need">
      <Needs />
    </Fold>
  );
}

const NEEDS = { "microsoft-bookings": MicrosoftNeeds, calcom: CalcomNeeds, calendly: CalendlyNeeds };

function MicrosoftNeeds() {
  return (
    <>
      <List size="sm" type="ordered" spacing={4}>
        <List.Item>In the Microsoft Entra admin center, open App registrations and register an application.</List.Item>
        <List.Item>
          Under API permissions, add two Microsoft Graph application permissions: <code>Bookings.Read.All</code> to read
          services, staff and availability, and <code>BookingsAppointment.ReadWrite.All</code> to make bookings.
        </List.Item>
        <List.Item>Have an administrator grant consent for both.</List.Item>
        <List.Item>Under Certificates &amp; secrets, create a client secret and copy its value.</List.Item>
      </List>
      <Text size="sm" c="dimmed" mt="xs">
        Microsoft grants these permissions for all booking pages in your directory. They can’t be limited to one.
      </Text>
    </>
  );
}

function CalcomNeeds() {
  return (
    <Text size="sm">
      An API key from the person whose event types you want to offer. Bookflow uses it to read event types and available
      times and to make bookings. Event types that require confirmation aren’t offered.
    </Text>
  );
}

function CalendlyNeeds() {
  return (
    <Text size="sm">
      A personal access token from the person whose event types you want to offer, with the scopes{" "}
      <code>event_types:read</code>, <code>availability:read</code>, <code>scheduled_events:write</code> and{" "}
      <code>users:read</code>. Calendly accepts at most 10 bookings per minute, 50 per hour and 100 per day from one
      user, and 5 per day on a trial.
    </Text>
  );
}
