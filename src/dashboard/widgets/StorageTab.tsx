import { List, SimpleGrid, Switch, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { AppWidget } from "#contract/app/widgets.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ConfirmDialog } from "../ui/forms/ConfirmDialog.tsx";
import { TextLink } from "../ui/layout/links.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { useWidgetChange } from "./use-widget-change.ts";

/** The Store bookings switch, and in plain words what it means. */
export function StorageTab({ widget }: { widget: AppWidget }) {
  const { can, details, paths } = useOrganization();
  const [isOpen, dialog] = useDisclosure(false);
  const verdict = can("changeWidget");
  const { collectData } = widget;
  const change = useWidgetChange(widget.id, {
    says: (saved) => `Store bookings is ${saved.collectData ? "on" : "off"} for ${saved.name}.`,
    onDone: dialog.close,
  });
  return (
    <Section title="Store bookings" description="Whether Bookflow keeps a copy of what is booked through this widget.">
      <Switch
        size="md"
        label={collectData ? "On: new bookings are stored" : "Off: nothing about customers is stored"}
        description={verdict.isAllowed ? undefined : verdict.reason}
        checked={collectData}
        disabled={!verdict.isAllowed}
        onChange={dialog.open}
        mb="lg"
      />
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xl">
        <div>
          <Text fw={600} size="sm" mb={6}>
            While it is on
          </Text>
          <List size="sm" spacing={6}>
            <List.Item>Name, e-mail, phone, notes, answers and where the visitor came from are kept.</List.Item>
            <List.Item>
              You find them under{" "}
              <TextLink to={paths.bookings} underline="always">
                Bookings
              </TextLink>
              , in exports and the read API.
            </List.Item>
            <List.Item>Webhooks, Teams and Slack are told of each booking.</List.Item>
            <List.Item>Copies are deleted after {details.plan.retention}, or when you erase them.</List.Item>
          </List>
        </div>
        <div>
          <Text fw={600} size="sm" mb={6}>
            While it is off
          </Text>
          <List size="sm" spacing={6}>
            <List.Item>Nothing about a customer is written down here, not even for a moment.</List.Item>
            <List.Item>Visitors book as before; your scheduling system has everything.</List.Item>
            <List.Item>Analytics go on counting, without names.</List.Item>
            <List.Item>No webhook is sent for new bookings.</List.Item>
          </List>
        </div>
      </SimpleGrid>
      <ConfirmDialog
        isOpen={isOpen}
        title={collectData ? "Stop storing bookings?" : "Store bookings?"}
        confirmLabel={collectData ? "Switch off" : "Switch on"}
        isDangerous={collectData}
        isBusy={change.isPending}
        onConfirm={() => change.mutate({ collectData: !collectData })}
        onClose={dialog.close}
      >
        {collectData
          ? `Only new bookings are affected. Copies that exist stay until they are ${details.plan.retention} old, or until you delete or erase them. Webhooks are no longer sent for this widget.`
          : "From now on a copy of each booking through this widget is kept, with the customer's details. Bookings made before are not brought in. Make sure that your privacy notice says so."}
      </ConfirmDialog>
    </Section>
  );
}
