import { Alert, List, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useState } from "react";
import { bookingsKey } from "../api/bookings.ts";
import { call } from "../api/call.ts";
import { pluralize } from "../format.ts";
import { useAction } from "../hooks/use-action.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionForm } from "../ui/forms/ActionForm.tsx";
import { FormDialog } from "../ui/forms/FormDialog.tsx";

type Found = { email: string; count: number };

/** First counts a person's bookings, then erases them once the address has been typed again. */
export function EraseDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [found, setFound] = useState<Found | null>(null);
  const close = () => {
    setFound(null);
    onClose();
  };
  return (
    <FormDialog opened={isOpen} onClose={close} title="Erase customer data">
      {found === null ? (
        <AddressForm onFound={setFound} onClose={close} />
      ) : (
        <ConfirmForm found={found} onBack={() => setFound(null)} onDone={close} />
      )}
    </FormDialog>
  );
}

function AddressForm({ onFound, onClose }: { onFound: (found: Found) => void; onClose: () => void }) {
  const { id } = useOrganization();
  const form = useForm({ initialValues: { email: "" } });
  const lookUp = useAction({
    run: ({ email }: { email: string }) => call("eraseBookings", { organization: id, body: { email, dryRun: true } }),
    form,
    onDone: ({ count }, { email }) => onFound({ email: email.trim(), count }),
  });
  return (
    <ActionForm form={form} action={lookUp} label="Find bookings" onCancel={onClose}>
      <Text size="sm">
        Permanently deletes everything Bookflow stores about an email address. Upper and lower case don’t matter.
      </Text>
      <TextInput
        label="Customer’s email address"
        type="email"
        autoComplete="off"
        required
        data-autofocus
        {...form.getInputProps("email")}
      />
    </ActionForm>
  );
}

function ConfirmForm({ found, onBack, onDone }: { found: Found; onBack: () => void; onDone: () => void }) {
  const { id } = useOrganization();
  const form = useForm({ initialValues: { typed: "" } });
  const erase = useAction({
    run: (_: { typed: string }) => call("eraseBookings", { organization: id, body: { email: found.email } }),
    form,
    refreshes: [bookingsKey(id)],
    successMessage: ({ count }) => `${pluralize(count, "booking")} erased`,
    onDone,
  });
  return (
    <ActionForm
      form={form}
      action={erase}
      label="Erase data"
      isReady={form.values.typed.trim().toLowerCase() === found.email.toLowerCase()}
      isDangerous
      cancelLabel="Back"
      onCancel={onBack}
    >
      <Text size="sm" role="status">
        {found.count === 0 ? (
          <>
            No stored bookings for <b>{found.email}</b>. You can still erase the address, in case someone is booking
            right now.
          </>
        ) : (
          <>
            <b>{pluralize(found.count, "booking")}</b> for <b>{found.email}</b> will be erased.
          </>
        )}
      </Text>
      <Alert color="red" icon={<IconAlertTriangle size={20} stroke={1.6} />}>
        <List size="sm" spacing={4}>
          <List.Item>Customer details, answers and attribution are deleted permanently.</List.Item>
          <List.Item>Queued webhook deliveries are cancelled, and the content of earlier ones is erased.</List.Item>
          <List.Item>Data in your scheduling system and your other systems isn’t changed.</List.Item>
          <List.Item>Analytics keep their anonymous counts.</List.Item>
        </List>
      </Alert>
      <TextInput
        label={`Type ${found.email} to confirm`}
        autoComplete="off"
        data-autofocus
        {...form.getInputProps("typed")}
      />
    </ActionForm>
  );
}
