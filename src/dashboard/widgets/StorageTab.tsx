import { List, SimpleGrid, Switch, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { AppWidget } from "#contract/app/widgets.ts";
import { planIncludes } from "#contract/plans.ts";
import { changeWidget } from "../api/queries.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ConfirmAction } from "../ui/forms/ConfirmDialog.tsx";
import { TextLink } from "../ui/layout/links.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { describeOutputs } from "./widget-words.ts";

export function StorageTab({ widget }: { widget: AppWidget }) {
  const { id, can, details } = useOrganization();
  const [isOpen, dialog] = useDisclosure(false);
  const verdict = can("changeWidget");
  const { collectData } = widget;
  return (
    <Section title="Store bookings" description="Save a copy of each booking made through this widget.">
      <Switch
        size="md"
        label={collectData ? "On: new bookings are stored" : "Off: new bookings aren’t stored"}
        description={verdict.isAllowed ? undefined : verdict.reason}
        checked={collectData}
        disabled={!verdict.isAllowed}
        onChange={dialog.open}
        mb="lg"
      />
      <Consequences />
      <ConfirmAction
        subject={isOpen ? { collectData: !collectData } : null}
        title={collectData ? "Stop storing bookings?" : "Start storing bookings?"}
        confirmLabel={collectData ? "Stop storing bookings" : "Start storing bookings"}
        isDangerous={collectData}
        action={{
          ...changeWidget(id, widget.id),
          successMessage: (saved) => `Store bookings turned ${saved.collectData ? "on" : "off"} for ${saved.name}`,
        }}
        onClose={dialog.close}
      >
        {collectData
          ? `New bookings won’t be stored or sent to webhooks. Stored bookings stay for ${details.plan.retention}, or until you delete them.`
          : "From now on, each booking made through this widget is stored with the customer’s details. Earlier bookings aren’t added. Make sure your privacy notice covers this."}
      </ConfirmAction>
    </Section>
  );
}

function Consequences() {
  const { details, paths, plan } = useOrganization();
  const outputs = describeOutputs(plan);
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xl">
      <div>
        <Text fw={600} size="sm" mb={6}>
          When it’s on
        </Text>
        <List size="sm" spacing={6}>
          <List.Item>Name, email, phone, notes, answers and source of the visit are stored.</List.Item>
          <List.Item>
            Bookings appear under{" "}
            <TextLink to={paths.bookings} underline="always">
              Bookings
            </TextLink>
            .
          </List.Item>
          {outputs !== "" && <List.Item>Bookings are included in {outputs}.</List.Item>}
          {planIncludes(plan, "webhooks") && (
            <List.Item>Each booking is sent to your webhooks, Teams and Slack.</List.Item>
          )}
          <List.Item>Bookings are deleted after {details.plan.retention}, or when you erase them.</List.Item>
        </List>
      </div>
      <div>
        <Text fw={600} size="sm" mb={6}>
          When it’s off
        </Text>
        <List size="sm" spacing={6}>
          <List.Item>Customers’ details from new bookings aren’t saved, not even briefly.</List.Item>
          <List.Item>Visitors can still book. The details are only in your scheduling system.</List.Item>
          <List.Item>Analytics keep counting anonymously.</List.Item>
          <List.Item>New bookings aren’t sent to webhooks.</List.Item>
        </List>
      </div>
    </SimpleGrid>
  );
}
