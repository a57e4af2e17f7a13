import { FileButton, Group, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useRef } from "react";
import { LOGO_BYTES_MAX } from "#contract/limits.ts";
import { call } from "../api/call.ts";
import { meKey } from "../api/queries.ts";
import { formatZone } from "../format.ts";
import { toastFailure, useAction } from "../hooks/use-action.ts";
import { toChange, useFollowedValues } from "../hooks/use-followed-values.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { CopyButton } from "../ui/copy/CopyField.tsx";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { ActionForm } from "../ui/forms/ActionForm.tsx";
import { LeaveGuard } from "../ui/forms/LeaveGuard.tsx";
import { TimeZoneSelect } from "../ui/forms/TimeZoneSelect.tsx";
import { Section } from "../ui/layout/Section.tsx";
import classes from "./SettingsPage.module.css";

export function GeneralSection() {
  const { id, details, can } = useOrganization();
  const verdict = can("changeOrganization");
  const { name, timeZone } = details;
  const form = useForm({ initialValues: { name, timeZone } });
  useFollowedValues(form, { name, timeZone }, (field, value) =>
    field === "timeZone" ? formatZone(String(value)) : String(value),
  );
  const save = useAction({
    run: (_values: typeof form.values) => call("changeOrganization", { organization: id, body: toChange(form) }),
    form,
    refreshes: [[id], meKey],
    successMessage: () => "Settings saved",
    onDone: (saved) => {
      const values = { name: saved.name, timeZone: saved.timeZone };
      form.setInitialValues(values);
      form.setValues(values);
    },
  });
  return (
    <Section title="General" description={verdict.isAllowed ? undefined : verdict.reason}>
      <LeaveGuard isDirty={form.isDirty()} />
      <ActionForm form={form} action={save}>
        <TextInput label="Organization name" required readOnly={!verdict.isAllowed} {...form.getInputProps("name")} />
        <TimeZoneSelect
          label="Time zone"
          description="Analytics count days in this time zone."
          required
          readOnly={!verdict.isAllowed}
          {...form.getInputProps("timeZone")}
        />
        <Group justify="space-between" gap="sm">
          <Group gap={4} wrap="nowrap">
            <Text size="sm" c="dimmed" className={classes["id"]}>
              Organization ID <code>{id}</code>
            </Text>
            <CopyButton value={id} label="Copy organization ID" />
          </Group>
          <ActionButton
            type="submit"
            verdict={verdict}
            disabled={verdict.isAllowed && !form.isDirty()}
            loading={save.isPending}
          >
            Save settings
          </ActionButton>
        </Group>
      </ActionForm>
    </Section>
  );
}

const ACCEPTED = "image/png,image/jpeg,image/webp";

/** Shown in widgets beside the business name. */
export function LogoSection() {
  const { id, name, details, can } = useOrganization();
  const { logoUrl } = details;
  const save = useAction({
    run: async (file: File) =>
      call("saveLogo", { organization: id, body: { picture: toBase64(new Uint8Array(await file.arrayBuffer())) } }),
    refreshes: [[id, "organization"]],
    successMessage: () => (logoUrl === null ? "Logo uploaded" : "Logo replaced"),
  });
  const remove = useAction({
    run: () => call("removeLogo", { organization: id }),
    refreshes: [[id, "organization"]],
    successMessage: () => "Logo removed",
  });
  const clearInput = useRef<() => void>(null);
  const choose = (file: File | null) => {
    // Otherwise the browser would not report the same file a second time.
    clearInput.current?.();
    if (file && file.size > LOGO_BYTES_MAX) toastFailure("Choose a PNG, JPEG or WebP image of at most 200 KB.");
    else if (file) save.mutate(file);
  };
  return (
    <Section title="Logo" description="Shown in your widgets. PNG, JPEG or WebP, at most 200 KB.">
      <Group gap="md">
        {logoUrl === null ? (
          <Text size="sm" c="dimmed">
            No logo yet
          </Text>
        ) : (
          <img src={logoUrl} alt={`Logo of ${name}`} className={classes["logo"]} />
        )}
        <FileButton onChange={choose} accept={ACCEPTED} resetRef={clearInput}>
          {(props) => (
            <ActionButton variant="default" verdict={can("saveLogo")} loading={save.isPending} {...props}>
              {logoUrl === null ? "Upload logo" : "Replace logo"}
            </ActionButton>
          )}
        </FileButton>
        {logoUrl !== null && (
          <ActionButton
            variant="default"
            verdict={can("saveLogo")}
            loading={remove.isPending}
            onClick={() => remove.mutate()}
          >
            Remove logo
          </ActionButton>
        )}
      </Group>
    </Section>
  );
}

function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}
