import { List, Text } from "@mantine/core";
import type { ConnectionKind } from "#contract/scheduling.ts";
import { Fold } from "../ui/layout/Fold.tsx";

/** What has to be set up in the system beforehand, and what Bookflow can do there with it. */
export function Permissions({ kind }: { kind: ConnectionKind }) {
  return <Fold label="What you need for it">{kind === "calcom" ? <CalcomNeeds /> : <MicrosoftNeeds />}</Fold>;
}

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
