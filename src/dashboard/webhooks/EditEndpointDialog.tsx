import { TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import type { AppEndpoint } from "#contract/app/endpoints.ts";
import { call } from "../api/call.ts";
import { endpointRefreshes } from "../api/queries.ts";
import { useAction } from "../hooks/use-action.ts";
import { toChange, useFollowedValues } from "../hooks/use-followed-values.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionForm } from "../ui/forms/ActionForm.tsx";
import { FormDialog } from "../ui/forms/FormDialog.tsx";
import { EndpointFields } from "./EndpointFields.tsx";
import { type EndpointValues, toBody, toSeen, toValues } from "./endpoint-form.ts";
import { KINDS, nameOf } from "./endpoint-words.ts";

type EditProps = { endpoint: AppEndpoint; onClose: () => void };

export function EditEndpointDialog({ isOpen, ...props }: EditProps & { isOpen: boolean }) {
  return (
    <FormDialog opened={isOpen} onClose={props.onClose} title={`Edit ${nameOf(props.endpoint)}`} size="lg">
      <EditForm {...props} />
    </FormDialog>
  );
}

function EditForm({ endpoint, onClose }: EditProps) {
  const { id } = useOrganization();
  const isChat = endpoint.kind !== "webhook";
  const saved = toValues(endpoint);
  const form = useForm({ initialValues: saved });
  useFollowedValues(form, saved, (name, value) => (name === "url" || name === "description" ? String(value) : ""));
  const save = useAction({
    run: (_values: EndpointValues) => {
      const { was, ...changed } = toChange(form);
      // The form never holds a chat endpoint's old URL; the server compares with the masked one.
      const seen = { ...toSeen(was), ...(isChat && form.isDirty("url") ? { url: endpoint.url } : {}) };
      const body = { ...toBody(changed), was: seen };
      return call("changeEndpoint", { organization: id, params: { endpoint: endpoint.id }, body });
    },
    form,
    refreshes: endpointRefreshes(id),
    successMessage: (saved) => `${nameOf(saved)} saved`,
    onDone: onClose,
  });
  return (
    <ActionForm form={form} action={save} label="Save endpoint" isReady={form.isDirty()} onCancel={onClose}>
      <TextInput
        label="URL"
        description={
          isChat
            ? "Leave empty to keep the current URL. Changing it resets the failure count."
            : `Queued deliveries go to the new URL. Changing it resets the failure count.${endpoint.headerNames.length > 0 ? " Custom header values must be entered again." : ""}`
        }
        placeholder={isChat ? endpoint.url : KINDS[endpoint.kind].example}
        inputMode="url"
        autoComplete="off"
        required={!isChat}
        data-autofocus
        {...form.getInputProps("url")}
      />
      <TextInput label="Name" autoComplete="off" {...form.getInputProps("description")} />
      <EndpointFields form={form} kind={endpoint.kind} />
    </ActionForm>
  );
}
