import { Button, Group, List, Modal, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { AppConnection } from "#contract/app/connections.ts";
import { call } from "../api/call.ts";
import { connectionsQuery, widgetsQuery } from "../api/queries.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ConfirmAction } from "../ui/forms/ConfirmDialog.tsx";
import { TextLink } from "../ui/layout/links.tsx";
import { Loaded } from "../ui/states/Loaded.tsx";

type DeleteProps = { connection: AppConnection | null; onClose: () => void };

/** Lists the widgets that use the connection, if any; the server refuses to delete it then. */
export function DeleteConnectionDialog({ connection, onClose }: DeleteProps) {
  const { id } = useOrganization();
  const isUsed = connection !== null && connection.widgetCount > 0;
  return (
    <>
      <ConfirmAction
        subject={isUsed ? null : connection}
        title={`Delete ${connection?.name ?? ""}?`}
        confirmLabel="Delete connection"
        action={{
          run: (removed) => call("removeConnection", { organization: id, params: { connection: removed.id } }),
          refreshes: [connectionsQuery(id).queryKey],
          successMessage: (_, { name }) => `${name} deleted`,
        }}
        onClose={onClose}
      >
        This deletes the settings and the secret. Existing bookings aren’t affected.
      </ConfirmAction>
      <Modal opened={isUsed} onClose={onClose} title={`${connection?.name ?? ""} is in use`}>
        {connection && <Users connection={connection} onClose={onClose} />}
      </Modal>
    </>
  );
}

function Users({ connection, onClose }: { connection: AppConnection; onClose: () => void }) {
  const { id, paths } = useOrganization();
  const widgets = useQuery(widgetsQuery(id));
  return (
    <Stack gap="md">
      <Text size="sm">These widgets use this connection. Choose another connection for them first.</Text>
      <Loaded query={widgets} rows={2}>
        {({ data }) => (
          <List size="sm" spacing={4}>
            {data
              .filter(({ connectionId }) => connectionId === connection.id)
              .map((widget) => (
                <List.Item key={widget.id}>
                  <TextLink to={paths.widget(widget.id)} inherit>
                    {widget.name}
                  </TextLink>
                </List.Item>
              ))}
          </List>
        )}
      </Loaded>
      <Group justify="flex-end">
        <Button onClick={onClose}>Close</Button>
      </Group>
    </Stack>
  );
}
