import { Checkbox, Select, Stack, Text, TextInput } from "@mantine/core";
import { type UseFormReturnType, useForm } from "@mantine/form";
import { useState } from "react";
import { KEY_SCOPES, KEY_SCOPES_DEFAULT, type KeyScope, SCOPE_WORDS } from "#contract/scopes.ts";
import { call } from "../api/call.ts";
import { keysQuery } from "../api/queries.ts";
import { dayAhead, toEndOfDay } from "../days.ts";
import { formatZone } from "../format.ts";
import { useAction } from "../hooks/use-action.ts";
import { useIdempotencyKey } from "../hooks/use-idempotency-key.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { CopyField } from "../ui/copy/CopyField.tsx";
import { PERSISTENT, ShownOnce } from "../ui/copy/ShownOnce.tsx";
import { ActionForm } from "../ui/forms/ActionForm.tsx";
import { FormDialog } from "../ui/forms/FormDialog.tsx";

const EXPIRIES = [
  { value: "", label: "Never" },
  { value: "30", label: "After 30 days" },
  { value: "90", label: "After 90 days" },
  { value: "365", label: "After 1 year" },
  { value: "on", label: "On a specific date" },
];

type KeyForm = { name: string; scopes: KeyScope[]; networks: string; expiry: string; expiresAt: string };

const NEW_KEY: KeyForm = { name: "", scopes: [...KEY_SCOPES_DEFAULT], networks: "", expiry: "", expiresAt: "" };

export function CreateKeyDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [key, setKey] = useState<string | null>(null);
  const close = () => {
    setKey(null);
    onClose();
  };
  return (
    <FormDialog
      opened={isOpen}
      onClose={close}
      title={key === null ? "Create API key" : "Save your API key"}
      size={key === null ? "md" : "lg"}
      {...(key === null ? {} : PERSISTENT)}
    >
      {key === null ? <KeyForm onClose={close} onCreated={setKey} /> : <KeyOnce value={key} onDone={close} />}
    </FormDialog>
  );
}

function KeyForm({ onClose, onCreated }: { onClose: () => void; onCreated: (key: string) => void }) {
  const { id, details } = useOrganization();
  const { timeZone } = details;
  const idempotencyKey = useIdempotencyKey();
  const form = useForm<KeyForm>({ initialValues: NEW_KEY });
  const create = useAction({
    run: (values: KeyForm) =>
      call("createKey", {
        organization: id,
        body: {
          name: values.name,
          scopes: values.scopes,
          networks: values.networks.split(/[\s,]+/).filter(Boolean),
          expiresAt: toExpiry(values, timeZone),
        },
        idempotencyKey,
      }),
    form,
    refreshes: [keysQuery(id).queryKey],
    successMessage: ({ name }) => `API key ${name} created`,
    onDone: ({ key }) => onCreated(key),
  });
  const { expiry } = form.values;
  return (
    <ActionForm form={form} action={create} label="Create key" onCancel={onClose}>
      <TextInput
        label="Name"
        description="The application that will use the key."
        autoComplete="off"
        required
        data-autofocus
        {...form.getInputProps("name")}
      />
      <AccessFields form={form} />
      <Select label="Expires" data={EXPIRIES} allowDeselect={false} {...form.getInputProps("expiry")} />
      {expiry === "on" ? (
        <TextInput
          type="date"
          label="Last day"
          description={`The key works until the end of this day (${formatZone(timeZone)}).`}
          required
          {...form.getInputProps("expiresAt")}
        />
      ) : (
        form.errors["expiresAt"] && (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            {form.errors["expiresAt"]}
          </Text>
        )
      )}
    </ActionForm>
  );
}

function AccessFields({ form }: { form: UseFormReturnType<KeyForm> }) {
  return (
    <>
      <Checkbox.Group label="Scopes" description="What the key may be used for." {...form.getInputProps("scopes")}>
        <Stack gap="xs" mt="xs">
          {KEY_SCOPES.map((scope) => (
            <Checkbox key={scope} value={scope} label={scope} description={SCOPE_WORDS[scope]} />
          ))}
        </Stack>
      </Checkbox.Group>
      <TextInput
        label="Allowed networks"
        description="Addresses your application calls from, such as 203.0.113.0/24. Leave empty to allow any address."
        autoComplete="off"
        {...form.getInputProps("networks")}
      />
    </>
  );
}

function toExpiry({ expiry, expiresAt }: KeyForm, timeZone: string): string | null {
  if (expiry === "") return null;
  return toEndOfDay(expiry === "on" ? expiresAt : dayAhead(Number(expiry), timeZone), timeZone);
}

function KeyOnce({ value, onDone }: { value: string; onDone: () => void }) {
  const curl = `curl -H "Authorization: Bearer ${value}" \\\n  ${window.location.origin}/api/v1/widgets`;
  return (
    <ShownOnce
      intro={<Text size="sm">Copy the key now. It won’t be shown again. Anyone who has it can use it.</Text>}
      label="API key"
      value={value}
      onDone={onDone}
    >
      <CopyField label="Try it in a terminal" value={curl} />
    </ShownOnce>
  );
}
