import { Button, Checkbox, Group, List, Select, Stack, Switch, type SwitchProps, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconPlugConnected } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { AppConnection } from "#contract/app/connections.ts";
import type { AppWidget } from "#contract/app/widgets.ts";
import { call } from "../../api/call.ts";
import { ApiFailure } from "../../api/client.ts";
import { connectionsQuery, testDataQuery, widgetsKey } from "../../api/queries.ts";
import { toFullName } from "../../connections/connection-words.ts";
import { toastFailure, useAction } from "../../hooks/use-action.ts";
import { useOrganization } from "../../shell/use-organization.ts";
import { ActionForm } from "../../ui/forms/ActionForm.tsx";
import { FormDialog } from "../../ui/forms/FormDialog.tsx";
import { ButtonLink } from "../../ui/layout/links.tsx";
import { Loaded, LoadingRows } from "../../ui/states/Loaded.tsx";
import { describeStorageUses } from "../widget-words.ts";
import { describeGoLive, describeTestData, hasTestData } from "./mode-words.ts";

type DialogProps = { widget: AppWidget; isOpen: boolean; onClose: () => void };

/** Checks the connection, then lets the widget book through it. */
export function GoLiveDialog({ widget, isOpen, onClose }: DialogProps) {
  return (
    <FormDialog
      opened={isOpen}
      onClose={onClose}
      title={widget.mode === "live" ? `Use another connection for ${widget.name}` : `Take ${widget.name} live`}
      size="lg"
    >
      <ChooseConnection widget={widget} onClose={onClose} />
    </FormDialog>
  );
}

function ChooseConnection({ widget, onClose }: Omit<DialogProps, "isOpen">) {
  const { id } = useOrganization();
  const connections = useQuery(connectionsQuery(id));
  return (
    <Loaded query={connections} placeholder={<LoadingRows count={2} />}>
      {({ data }) =>
        data.length > 0 ? (
          <GoLiveForm widget={widget} connections={data} onClose={onClose} />
        ) : (
          <NoConnections widget={widget} onClose={onClose} />
        )
      }
    </Loaded>
  );
}

/** Members can take a widget live, but only admins can add the connection it needs. */
function NoConnections({ widget, onClose }: Omit<DialogProps, "isOpen">) {
  const { paths, can } = useOrganization();
  const canAdd = can("addConnection").isAllowed;
  return (
    <Stack gap="md">
      <Text size="sm">
        {canAdd
          ? "First connect your scheduling system: Cal.com, Microsoft Bookings or Calendly. You’ll come back here afterwards."
          : "Ask an admin to connect your scheduling system."}
      </Text>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          {canAdd ? "Cancel" : "Close"}
        </Button>
        {canAdd && (
          <ButtonLink
            to={paths.connections}
            search={{ add: "1", widget: widget.id }}
            leftSection={<IconPlugConnected size={17} stroke={1.6} />}
          >
            Connect scheduling system
          </ButtonLink>
        )}
      </Group>
    </Stack>
  );
}

type FormProps = Omit<DialogProps, "isOpen"> & { connections: readonly AppConnection[] };

function GoLiveForm({ widget, connections, onClose }: FormProps) {
  const { id } = useOrganization();
  const found = useQuery({ ...testDataQuery(id, widget.id), enabled: widget.mode !== "live" });
  const suggested = widget.mode === "live" ? widget.connectionId : connections.at(-1)?.id;
  const form = useForm({
    initialValues: { connectionId: suggested ?? "", storesBookings: widget.collectData, clearsTestData: true },
  });
  const offersClearing = found.data !== undefined && hasTestData(found.data);
  const go = useAction({
    run: async ({ connectionId, storesBookings, clearsTestData }: typeof form.values) => {
      const params = { widget: widget.id };
      const asked = { organization: id, params };
      const saved = await call("goLive", { ...asked, body: { connectionId } });
      if (storesBookings !== widget.collectData)
        await call("changeWidget", { ...asked, body: { collectData: storesBookings } }).catch(tellNotChanged);
      if (offersClearing && clearsTestData) await call("clearTestData", { ...asked, body: {} }).catch(tellNotCleared);
      // `successMessage` may already see the changed widget.
      return describeGoLive(widget, saved);
    },
    form,
    refreshes: [widgetsKey(id), [id]],
    successMessage: (sentence) => sentence,
    onDone: onClose,
  });
  return (
    <ActionForm
      form={form}
      action={go}
      label={widget.mode === "live" ? "Check and use this connection" : "Check and go live"}
      onCancel={onClose}
    >
      <Select
        label="Scheduling system"
        description="We check the connection first. If something is missing, the widget stays as it is."
        data={connections.map((each) => ({ value: each.id, label: toFullName(each) }))}
        allowDeselect={false}
        data-autofocus
        {...form.getInputProps("connectionId")}
      />
      {widget.mode !== "live" && <WhatChanges />}
      {widget.mode !== "live" && <StorageSwitch {...form.getInputProps("storesBookings", { type: "checkbox" })} />}
      {offersClearing && (
        <Checkbox
          label="Clear this widget’s test data"
          description={`Deletes ${describeTestData(found.data)}, and removes them from analytics.`}
          {...form.getInputProps("clearsTestData", { type: "checkbox" })}
        />
      )}
    </ActionForm>
  );
}

function StorageSwitch(props: SwitchProps) {
  const { plan } = useOrganization();
  const description = props.checked
    ? `Each booking is saved with the customer’s details for ${describeStorageUses(plan)}. Make sure your privacy notice covers this.`
    : "Bookings are counted, but customers’ details are only in your scheduling system. The bookings list stays empty, and nothing is sent to webhooks.";
  return <Switch label="Store bookings" description={description} {...props} />;
}

/** The widget already books through the connection, so this isn't a failure to go live. */
function tellNotCleared(error: Error): void {
  if (!(error instanceof ApiFailure)) throw error;
  toastFailure("The test data may not have been cleared. To check, choose “Clear test data” under “Change mode”.");
}

/** The widget is live by now, so this isn't a failure to go live. */
function tellNotChanged(error: Error): void {
  if (!(error instanceof ApiFailure)) throw error;
  toastFailure("Store bookings may not have been changed. Check the tab “Store bookings”.");
}

function WhatChanges() {
  return (
    <List size="sm" spacing={4}>
      <List.Item>Visitors see the services and available times from this system.</List.Item>
      <List.Item>Every booking becomes a real appointment there.</List.Item>
      <List.Item>You can return to test mode at any time.</List.Item>
    </List>
  );
}
