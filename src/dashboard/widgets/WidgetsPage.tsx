import { Switch, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { IconAppWindow, IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { WIDGET_NAME_LENGTH_MAX } from "#contract/limits.ts";
import type { Template } from "#contract/widgets/widget.ts";
import { call } from "../api/call.ts";
import { widgetsKey, widgetsQuery } from "../api/queries.ts";
import { useAction } from "../hooks/use-action.ts";
import { useIdempotencyKey } from "../hooks/use-idempotency-key.ts";
import { useUrlState } from "../hooks/use-url-state.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { ActionForm } from "../ui/forms/ActionForm.tsx";
import { FormDialog } from "../ui/forms/FormDialog.tsx";
import { Page } from "../ui/layout/Page.tsx";
import { Section } from "../ui/layout/Section.tsx";
import { EmptyState } from "../ui/states/EmptyState.tsx";
import { Loaded, StaleNotice } from "../ui/states/Loaded.tsx";
import { TemplateChoice } from "./design/TemplateChoice.tsx";
import { WidgetTable } from "./WidgetTable.tsx";
import { describeStorageUses } from "./widget-words.ts";

/** `new`: opens the dialog; other screens link to it. */
const DEFAULTS = { new: "" };

export function WidgetsPage() {
  const { id, can } = useOrganization();
  const widgets = useQuery(widgetsQuery(id));
  const [state, change] = useUrlState(DEFAULTS);
  const verdict = can("createWidget");
  const button = (
    <ActionButton
      verdict={verdict}
      leftSection={<IconPlus size={17} stroke={1.8} />}
      onClick={() => change({ new: "1" })}
    >
      Create widget
    </ActionButton>
  );
  return (
    <Page
      title="Widgets"
      description="Booking widgets for your website."
      guide={{ to: "embedding", about: "embedding a widget" }}
      actions={button}
    >
      <StaleNotice query={widgets} />
      <Section title="All widgets" isFlush>
        <Loaded query={widgets} rows={4}>
          {({ data }) =>
            data.length === 0 ? (
              <EmptyState icon={IconAppWindow} title="No widgets yet" action={button}>
                Visitors book through a widget on your website. Create one and paste its snippet into your page.
              </EmptyState>
            ) : (
              <WidgetTable widgets={data} />
            )
          }
        </Loaded>
      </Section>
      <NewWidgetDialog
        isOpen={state.new !== "" && verdict.isAllowed}
        onClose={() => change({ new: "" }, { replace: true })}
      />
    </Page>
  );
}

/** Asks for the basics only; they can be changed later. Opens the new widget. */
function NewWidgetDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
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
