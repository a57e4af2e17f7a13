import { Group, Stack, TagsInput, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { WIDGET_NAME_LENGTH_MAX } from "#contract/limits.ts";
import { ALLOWED_DOMAINS_MAX } from "#contract/widget-looks.ts";
import { useOrganization } from "../../shell/use-organization.ts";
import { ActionButton } from "../../ui/forms/ActionButton.tsx";
import { FormFault } from "../../ui/forms/FormFault.tsx";
import { Section } from "../../ui/layout/Section.tsx";
import { AccentInput } from "./AccentInput.tsx";
import { LookFields } from "./LookFields.tsx";
import { TemplateChoice } from "./TemplateChoice.tsx";
import classes from "./WidgetForm.module.css";
import type { WidgetValues } from "./widget-form.ts";

type WidgetFormProps = {
  form: UseFormReturnType<WidgetValues>;
  error: Error | null;
  isBusy: boolean;
  onSave: () => void;
};

export function WidgetForm({ form, error, isBusy, onSave }: WidgetFormProps) {
  const { can } = useOrganization();
  const readOnly = !can("changeWidget").isAllowed;
  return (
    <form onSubmit={form.onSubmit(() => onSave())}>
      <FormFault error={error} />
      <Section title="Appearance">
        <Stack gap="md">
          <TextInput
            label="Name"
            description="Not shown to visitors."
            required
            maxLength={WIDGET_NAME_LENGTH_MAX}
            readOnly={readOnly}
            {...form.getInputProps("name")}
          />
          <TextInput
            label="Business name"
            description="Shown to visitors. Defaults to your organization’s name."
            maxLength={WIDGET_NAME_LENGTH_MAX}
            readOnly={readOnly}
            {...form.getInputProps("businessName")}
          />
          <TemplateChoice {...form.getInputProps("template")} readOnly={readOnly} />
          <AccentInput {...form.getInputProps("accentColor")} readOnly={readOnly} />
          <LookFields form={form} readOnly={readOnly} />
        </Stack>
      </Section>
      <Section title="Booking">
        <Stack gap="md">
          <TextInput
            label="Fallback link"
            description="Shown as a link while the widget is paused, and to visitors without JavaScript."
            placeholder="https://example.com/book"
            type="url"
            readOnly={readOnly}
            {...form.getInputProps("bookingUrl")}
          />
          <UrlFields form={form} readOnly={readOnly} />
          <TagsInput
            label="Allowed domains"
            description="Sites that can embed the widget, such as example.com or *.example.com. Leave empty to allow any site."
            placeholder={form.values.allowedDomains.length === 0 ? "Type a domain and press Enter" : ""}
            maxTags={ALLOWED_DOMAINS_MAX}
            splitChars={[",", " "]}
            acceptValueOnBlur
            readOnly={readOnly}
            {...form.getInputProps("allowedDomains")}
          />
        </Stack>
      </Section>
      <SaveBar form={form} isBusy={isBusy} />
    </form>
  );
}

function SaveBar({ form, isBusy }: Pick<WidgetFormProps, "form" | "isBusy">) {
  const verdict = useOrganization().can("changeWidget");
  const isDirty = form.isDirty();
  return (
    <Group justify="flex-end" gap="xs" className={classes["bar"]} data-dirty={isDirty}>
      {isDirty && (
        <ActionButton variant="default" onClick={() => form.reset()}>
          Discard changes
        </ActionButton>
      )}
      <ActionButton type="submit" verdict={verdict} disabled={verdict.isAllowed && !isDirty} loading={isBusy}>
        Save changes
      </ActionButton>
    </Group>
  );
}

function UrlFields({ form, readOnly }: Pick<WidgetFormProps, "form"> & { readOnly: boolean }) {
  return (
    <>
      <TextInput
        label="Thank-you page"
        description="Visitors go here after booking instead of seeing the confirmation. The reference is added to the URL as reference=SVC-… Not used in test mode."
        placeholder="https://example.com/thank-you"
        type="url"
        readOnly={readOnly}
        {...form.getInputProps("thankYouUrl")}
      />
      <TextInput
        label="Privacy policy"
        description="Linked below the form."
        placeholder="https://example.com/privacy"
        type="url"
        readOnly={readOnly}
        {...form.getInputProps("privacyUrl")}
      />
    </>
  );
}
