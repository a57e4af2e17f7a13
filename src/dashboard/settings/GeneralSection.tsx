import { Group, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { call } from "../api/call.ts";
import { meKey } from "../api/queries.ts";
import { formatZone } from "../format.ts";
import { useAction } from "../hooks/use-action.ts";
import { toChange, useFollowedValues } from "../hooks/use-followed-values.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { CopyButton } from "../ui/copy/CopyField.tsx";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { ActionForm } from "../ui/forms/ActionForm.tsx";
import { LeaveGuard } from "../ui/forms/LeaveGuard.tsx";
import { TimeZoneSelect } from "../ui/forms/TimeZoneSelect.tsx";
import { Section } from "../ui/layout/Section.tsx";
import classes from "./GeneralSection.module.css";

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
