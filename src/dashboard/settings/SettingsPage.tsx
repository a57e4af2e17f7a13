import { Anchor, Group, List } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { DASHBOARD_ADDRESS } from "#contract/app/addresses.ts";
import { DELIVERY_LOG_DAYS } from "#contract/webhooks/delivery.ts";
import { call } from "../api/call.ts";
import { meKey } from "../api/queries.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ConfirmButton } from "../ui/forms/ConfirmDialog.tsx";
import { TextLink } from "../ui/layout/links.tsx";
import { Page } from "../ui/layout/Page.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { GeneralSection, LogoSection } from "./GeneralAndLogo.tsx";
import { PlanSection } from "./PlanSection.tsx";
import classes from "./SettingsPage.module.css";

/** In two columns where there is room. */
const COLUMNS = [
  [
    { id: "general", name: "General", Part: GeneralSection },
    { id: "logo", name: "Logo", Part: LogoSection },
    { id: "privacy", name: "Privacy", Part: PrivacySection },
  ],
  [
    { id: "plan", name: "Plan", Part: PlanSection },
    { id: "leave", name: "Leave", Part: LeaveSection },
    { id: "delete", name: "Delete", Part: DeleteSection },
  ],
] as const;

export function SettingsPage() {
  const { name } = useOrganization();
  return (
    <Page title="Settings" description={`Settings for ${name}.`}>
      <Group component="nav" gap="md" mb="lg" aria-label="Sections">
        {COLUMNS.flat().map((section) => (
          <Anchor key={section.id} href={`#${section.id}`} size="sm">
            {section.name}
          </Anchor>
        ))}
      </Group>
      <div className={classes["columns"]}>
        {COLUMNS.map((column) => (
          <div key={column[0].id}>
            {column.map(({ id, Part }) => (
              <div key={id} id={id} className={classes["part"]}>
                <Part />
              </div>
            ))}
          </div>
        ))}
      </div>
    </Page>
  );
}

/** Describes what analytics/ and bookings/ of the server store and delete. */
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

const RED = { variant: "outline", color: "red" } as const;

export function LeaveSection() {
  const { id, name, me } = useOrganization();
  const navigate = useNavigate();
  return (
    <Section title={`Leave ${name}`} description="You’ll lose access immediately. The last owner can’t leave.">
      <ConfirmButton
        label="Leave organization"
        button={RED}
        title={`Leave ${name}?`}
        typed={{ expected: name, label: `Type ${name} to confirm` }}
        action={{
          run: () => call("removeMember", { organization: id, params: { userId: me.user.id } }),
          successMessage: () => `You left ${name}`,
          // The start page needs the new list of organizations to pick the next one.
          refreshes: [meKey],
          onDone: () => void navigate({ to: DASHBOARD_ADDRESS, replace: true }),
        }}
      >
        To come back, you’ll need a new invitation.
      </ConfirmButton>
    </Section>
  );
}

export function DeleteSection() {
  const { id, name, can } = useOrganization();
  const navigate = useNavigate();
  return (
    <Section
      title={`Delete ${name}`}
      description="Deletes all widgets, bookings, analytics, endpoints, keys and memberships. This can’t be undone."
    >
      <ConfirmButton
        label="Delete organization"
        button={{ ...RED, verdict: can("deleteOrganization") }}
        title={`Delete ${name}?`}
        typed={{ expected: name, label: `Type ${name} to confirm` }}
        action={{
          run: () => call("deleteOrganization", { organization: id, body: { name } }),
          successMessage: () => `${name} deleted`,
          refreshes: [meKey],
          onDone: () => void navigate({ to: DASHBOARD_ADDRESS, replace: true }),
        }}
      >
        Widgets on your pages stop working at once, and nothing can be restored. Appointments stay in your scheduling
        system, and people keep their accounts.
      </ConfirmButton>
    </Section>
  );
}
