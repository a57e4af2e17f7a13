import { Anchor, Code, List, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { ConnectionKind } from "#contract/scheduling.ts";
import type { FieldName } from "./connection-words.ts";

/** One step of connecting a system: what to do there, and what to copy from there into these fields. */
type ConnectionStep = {
  readonly title: string;
  readonly guide: ReactNode;
  readonly fields: readonly FieldName[];
};

/** The order in which the systems' own pages ask for things. */
export const CONNECTION_STEPS: Readonly<Record<ConnectionKind, readonly ConnectionStep[]>> = {
  "microsoft-bookings": [
    {
      title: "Register an application",
      guide: (
        <Steps>
          <List.Item>
            Open the <Outside to="https://entra.microsoft.com">Microsoft Entra admin center</Outside> and sign in as an
            administrator.
          </List.Item>
          <List.Item>
            Go to <Path>Entra ID → App registrations → New registration</Path>.
          </List.Item>
          <List.Item>
            Enter a name, for example “Bookflow”, and select Register. Nothing else needs to change.
          </List.Item>
          <List.Item>Copy both IDs from the Overview page that opens.</List.Item>
        </Steps>
      ),
      fields: ["clientId", "tenantId"],
    },
    {
      title: "Grant permissions",
      guide: (
        <>
          <Steps>
            <List.Item>
              In the same application, go to{" "}
              <Path>API permissions → Add a permission → Microsoft Graph → Application permissions</Path>.
            </List.Item>
            <List.Item>
              Select <Code>Bookings.Read.All</Code> to read services, staff and availability, and{" "}
              <Code>BookingsAppointment.ReadWrite.All</Code> to make bookings, then select Add permissions.
            </List.Item>
            <List.Item>Select “Grant admin consent”. Both permissions then show a green check mark.</List.Item>
          </Steps>
          <Text size="sm" c="dimmed" mt="xs">
            Microsoft grants these permissions for all booking pages in your directory. They can’t be limited to one.
          </Text>
        </>
      ),
      fields: [],
    },
    {
      title: "Create a client secret",
      guide: (
        <Steps>
          <List.Item>
            Go to <Path>Certificates &amp; secrets → Client secrets → New client secret</Path>.
          </List.Item>
          <List.Item>
            Choose when it expires. Bookings stop working on that day unless you enter a new secret here first.
          </List.Item>
          <List.Item>Copy the Value now. Microsoft shows it only once.</List.Item>
        </Steps>
      ),
      fields: ["clientSecret"],
    },
    {
      title: "Choose the booking page",
      guide: (
        <Steps>
          <List.Item>
            Open <Outside to="https://outlook.office.com/bookings">Microsoft Bookings</Outside> and select a shared
            booking page.
          </List.Item>
          <List.Item>
            Its address is part of the page’s link: https://outlook.office.com/book/
            <strong>lindenhof@example.onmicrosoft.com</strong>/
          </List.Item>
        </Steps>
      ),
      fields: ["businessId"],
    },
  ],
  calcom: [
    {
      title: "Create an API key",
      guide: (
        <>
          <Steps>
            <List.Item>
              In Cal.com, open{" "}
              <Outside to="https://app.cal.com/settings/developer/api-keys">Settings → Developer → API keys</Outside>.
            </List.Item>
            <List.Item>
              Sign in as the person whose event types you want to offer. The key has the same permissions as this
              person.
            </List.Item>
            <List.Item>Select New, give the key a name and turn on “Never expires”.</List.Item>
            <List.Item>Copy the key now. Cal.com shows it only once.</List.Item>
          </Steps>
          <Text size="sm" c="dimmed" mt="xs">
            Event types that need confirmation or payment aren’t offered. To offer a team’s event types, this person
            must be an admin of the team.
          </Text>
        </>
      ),
      fields: ["apiKey"],
    },
  ],
  calendly: [
    {
      title: "Create a personal access token",
      guide: (
        <>
          <Steps>
            <List.Item>
              In Calendly, open{" "}
              <Outside to="https://calendly.com/integrations/api_webhooks">
                Integrations &amp; apps → API and webhooks
              </Outside>
              .
            </List.Item>
            <List.Item>Sign in as the person whose event types you want to offer.</List.Item>
            <List.Item>
              Create a token with the scopes <Code>users:read</Code>, <Code>event_types:read</Code> and{" "}
              <Code>scheduled_events:write</Code>. On a paid plan, add <Code>webhooks:read</Code> and{" "}
              <Code>webhooks:write</Code>, so that Calendly reports changes at once.
            </List.Item>
            <List.Item>Copy the token now. Calendly shows it only once.</List.Item>
          </Steps>
          <Text size="sm" c="dimmed" mt="xs">
            Calendly accepts at most 10 bookings per minute, 50 per hour and 100 per day from one user, and 5 per day on
            a trial.
          </Text>
        </>
      ),
      fields: ["token"],
    },
  ],
};

function Steps({ children }: { children: ReactNode }) {
  return (
    <List size="sm" type="ordered" spacing={6}>
      {children}
    </List>
  );
}

function Path({ children }: { children: ReactNode }) {
  return (
    <Text span fw={500} inherit>
      {children}
    </Text>
  );
}

function Outside({ to, children }: { to: string; children: ReactNode }) {
  return (
    <Anchor href={to} target="_blank" rel="noreferrer" underline="always" inherit>
      {children}
    </Anchor>
  );
}
