import { List, Text } from "@mantine/core";
import type { ConnectionKind } from "#contract/scheduling.ts";
import { Fold } from "../ui/layout/Fold.tsx";

/** What has to be set up in the system beforehand, and what Bookflow can do there with it. */
export function Permissions({ kind }: { kind: ConnectionKind }) {
  const Needs = NEEDS[kind];
  return (
    <Fold label="What you need for it">
      <Needs />
    </Fold>
  );
}

const NEEDS = { "microsoft-bookings": MicrosoftNeeds, calcom: CalcomNeeds, calendly: CalendlyNeeds };

function MicrosoftNeeds() {
  return (
    <>
      <List size="sm" type="ordered" spacing={4}>
        <List.Item>In the Microsoft Entra admin center open App registrations and register an application.</List.Item>
        <List.Item>
          Under API permissions add two application permissions of Microsoft Graph: <code>Bookings.Read.All</code> for
          services, staff and free times, and <code>BookingsAppointment.ReadWrite.All</code> for booking.
        </List.Item>
        <List.Item>Let an administrator grant consent to both.</List.Item>
        <List.Item>Under Certificates and secrets make a client secret, and copy its value.</List.Item>
      </List>
      <Text size="sm" c="dimmed" mt="xs">
        Microsoft gives these permissions for all booking pages of your directory; they cannot be narrowed to one.
      </Text>
    </>
  );
}

function CalcomNeeds() {
  return (
    <Text size="sm">
      An API key of the person whose event types are offered. With it Bookflow reads their event types and free times,
      and makes bookings in their name. Event types that need a confirmation are not offered.
    </Text>
  );
}

function CalendlyNeeds() {
  return (
    <Text size="sm">
      A personal access token of the person whose event types are offered, with the scopes <code>event_types:read</code>
      , <code>availability:read</code>, <code>scheduled_events:write</code> and <code>users:read</code>. Calendly
      accepts at most 10 bookings per minute, 50 per hour and 100 per day from one user, and 5 per day on a trial.
    </Text>
  );
}
