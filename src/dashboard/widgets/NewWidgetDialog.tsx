import { Switch, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useNavigate } from "@tanstack/react-router";
import { WIDGET_NAME_LENGTH_MAX } from "#contract/limits.ts";
import type { Template } from "#contract/widget.ts";
import { call } from "../api/call.ts";
import { widgetsKey } from "../api/queries.ts";
import { useAction } from "../hooks/use-action.ts";
import { useIdempotencyKey } from "../hooks/use-idempotency-key.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionForm } from "../ui/forms/ActionForm.tsx";
import { FormDialog } from "../ui/forms/FormDialog.tsx";
import { TemplateChoice } from "./design/TemplateChoice.tsx";
import { describeStorageUses } from "./widget-words.ts";

/** Asks for the basics only; they can be changed later. Opens the new widget. */
export function NewWidgetDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <FormDialog opened={isOpen} onClose={onClose} title="Create widget" size="lg">
      <NewWidgetForm onClose={onClose} />
    </FormDialog>
  );
}

function NewWidgetForm({ onClose }: { onClose: () => void }) {
  const { id, name, paths, plan } = useOrganization();
  const navigate = useNavigate();
  const idempotencyKey = useIdempotencyKey();
  const form = useForm({
    initialValues: { name: "", businessName: name, template: "classic" as Template, collectData: false },
  });
  const create = useAction({
    run: (body: typeof form.values) => call("createWidget", { organization: id, body, idempotencyKey }),
    form,
    refreshes: [widgetsKey(id)],
    successMessage: (widget) => `${widget.name} created in test mode`,
    onDone: (widget) => void navigate({ to: paths.widget(widget.id), search: {} }),
  });
  return (
    <ActionForm form={form} action={create} label="Create widget" onCancel={onClose}>
      <TextInput
        label="Name"
        description="Not shown to visitors. For example “Website” or “Linz branch”."
        required
        maxLength={WIDGET_NAME_LENGTH_MAX}
        data-autofocus
        {...form.getInputProps("name")}
      />
      <TextInput
        label="Business name"
        description="Shown to visitors above the widget."
        maxLength={WIDGET_NAME_LENGTH_MAX}
        {...form.getInputProps("businessName")}
      />
      <TemplateChoice {...form.getInputProps("template")} />
      <Switch
        label="Store bookings"
        description={`Saves each booking with the customer’s details for ${describeStorageUses(plan)}. When off, nothing about customers is stored.`}
        {...form.getInputProps("collectData", { type: "checkbox" })}
      />
    </ActionForm>
  );
}
