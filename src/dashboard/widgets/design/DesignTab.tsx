import { Group, Stack, TagsInput, TextInput } from "@mantine/core";
import { type UseFormReturnType, useForm } from "@mantine/form";
import { useDebouncedValue } from "@mantine/hooks";
import type { AppWidget } from "#contract/app/widgets.ts";
import { WIDGET_NAME_LENGTH_MAX } from "#contract/limits.ts";
import { ALLOWED_DOMAINS_MAX, parseAccentColor } from "#contract/widgets/widget-looks.ts";
import { changeWidget } from "../../api/queries.ts";
import { useAction } from "../../hooks/use-action.ts";
import { toChange, useFollowedValues } from "../../hooks/use-followed-values.ts";
import { useOrganization } from "../../shell/use-organization.ts";
import { ActionButton } from "../../ui/forms/ActionButton.tsx";
import { FormFault } from "../../ui/forms/FormFault.tsx";
import { LeaveGuard } from "../../ui/forms/LeaveGuard.tsx";
import { Section } from "../../ui/layout/Section.tsx";
import { AccentInput } from "./AccentInput.tsx";
import classes from "./DesignTab.module.css";
import { LookFields } from "./LookFields.tsx";
import { Preview } from "./Preview.tsx";
import { TemplateChoice } from "./TemplateChoice.tsx";
import { toFormValues, toWire, toWords, type WidgetValues } from "./widget-form.ts";

const SETTLED_MS = 300;

export function DesignTab({ widget }: { widget: AppWidget }) {
  const { id } = useOrganization();
  const form = useForm({ initialValues: toFormValues(widget) });
  useFollowedValues(form, toFormValues(widget), toWords);
  const save = useAction({
    ...changeWidget(id, widget.id),
    form,
    successMessage: (saved) => `${saved.name} saved`,
    onDone: (saved) => {
      const values = toFormValues(saved);
      form.setInitialValues(values);
      form.setValues(values);
    },
  });
  const [values] = useDebouncedValue(form.values, SETTLED_MS);
  const accent = parseAccentColor(values.accentColor.trim());
  return (
    <div className={classes["columns"]}>
      <LeaveGuard isDirty={form.isDirty()}>Your changes to the design haven’t been saved.</LeaveGuard>
      <form
        onSubmit={form.onSubmit(() => {
          const { was, ...changed } = toChange(form);
          save.mutate({ ...toWire(changed), was: toWire(was) });
        })}
      >
        <FormFault error={save.error} />
        <WidgetFields form={form} />
        <SaveBar form={form} isBusy={save.isPending} />
      </form>
      <Preview widget={widget} values={values} accent={accent} />
    </div>
  );
}

type FormProps = { form: UseFormReturnType<WidgetValues> };

function WidgetFields({ form }: FormProps) {
  const { can } = useOrganization();
  const readOnly = !can("changeWidget").isAllowed;
  return (
    <>
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
    </>
  );
}

function SaveBar({ form, isBusy }: FormProps & { isBusy: boolean }) {
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

function UrlFields({ form, readOnly }: FormProps & { readOnly: boolean }) {
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
