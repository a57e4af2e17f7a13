import { Alert, Radio, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { AddedEndpoint, AppEndpoint, NewEndpoint } from "#contract/app/endpoints.ts";
import { ENDPOINT_KINDS, type EndpointKind } from "#contract/webhooks/endpoint.ts";
import { call } from "../api/call.ts";
import { endpointRefreshes, endpointsQuery } from "../api/queries.ts";
import { useAction } from "../hooks/use-action.ts";
import { toChange, useFollowedValues } from "../hooks/use-followed-values.ts";
import { useIdempotencyKey } from "../hooks/use-idempotency-key.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { PERSISTENT } from "../ui/copy/ShownOnce.tsx";
import { ActionForm } from "../ui/forms/ActionForm.tsx";
import { FormDialog } from "../ui/forms/FormDialog.tsx";
import { EndpointFields } from "./EndpointFields.tsx";
import { type EndpointValues, EXPIRY, NEW_ENDPOINT, toBody, toSeen, toValues } from "./endpoint-form.ts";
import { KINDS, nameOf } from "./endpoint-words.ts";
import { SecretOnce } from "./SecretSection.tsx";

export function AddEndpointDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { paths } = useOrganization();
  const navigate = useNavigate();
  const [added, setAdded] = useState<AddedEndpoint | null>(null);
  const openEndpoint = ({ endpoint }: AddedEndpoint) => {
    setAdded(null);
    onClose();
    // The secret has been saved by now.
    void navigate({ to: paths.endpoint(endpoint.id), ignoreBlocker: true });
  };
  return (
    <FormDialog
      opened={isOpen}
      onClose={onClose}
      title={added ? "Save the signing secret" : "Add endpoint"}
      size="lg"
      {...(added ? PERSISTENT : {})}
    >
      {added?.secret ? (
        <SecretOnce secret={added.secret} onDone={() => openEndpoint(added)} />
      ) : (
        <AddForm
          onClose={onClose}
          // Chat cards are not signed, so there is no secret to show.
          onAdded={(endpoint) => (endpoint.secret === null ? openEndpoint(endpoint) : setAdded(endpoint))}
        />
      )}
    </FormDialog>
  );
}

function AddForm({ onClose, onAdded }: { onClose: () => void; onAdded: (added: AddedEndpoint) => void }) {
  const { id } = useOrganization();
  const idempotencyKey = useIdempotencyKey();
  const [kind, setKind] = useState<EndpointKind>("webhook");
  const form = useForm({ initialValues: NEW_ENDPOINT });
  const endpoints = useQuery(endpointsQuery(id));
  const typed = URL.parse(form.values.url.trim())?.href;
  const same = endpoints.data?.data.find((each) => each.kind === "webhook" && each.url === typed);
  const add = useAction({
    run: (values: EndpointValues) =>
      call("addEndpoint", { organization: id, body: toWanted(kind, values), idempotencyKey }),
    form,
    refreshes: endpointRefreshes(id),
    successMessage: ({ endpoint, sameUrlAs }) =>
      `${nameOf(endpoint)} added${sameUrlAs === null ? "" : ". Another endpoint has the same URL, so some events will arrive there twice"}`,
    onDone: onAdded,
  });
  const { help, example } = KINDS[kind];
  return (
    <ActionForm form={form} action={add} label="Add endpoint" onCancel={onClose}>
      <Radio.Group label="Type" value={kind} onChange={(value) => setKind(value as EndpointKind)}>
        <Stack gap="sm" mt="xs">
          {ENDPOINT_KINDS.map((each) => (
            <Radio key={each} value={each} label={KINDS[each].name} description={KINDS[each].meaning} />
          ))}
        </Stack>
      </Radio.Group>
      <TextInput
        label="URL"
        description={help}
        placeholder={example}
        inputMode="url"
        autoComplete="off"
        required
        data-autofocus
        {...form.getInputProps("url")}
      />
      <TextInput
        label="Name"
        description="Shown in lists, logs and notices, for example “Practice software”. Without a name, the host is shown."
        autoComplete="off"
        {...form.getInputProps("description")}
      />
      {same && (
        <Alert color="yellow" role="status">
          {nameOf(same)} already has this URL. Each event would be sent to it twice.
        </Alert>
      )}
      <EndpointFields form={form} kind={kind} />
    </ActionForm>
  );
}

/** Teams and Slack endpoints have no headers and never get erasures, so values entered before the type changed are dropped. */
function toWanted(kind: EndpointKind, values: EndpointValues): NewEndpoint {
  const taken =
    kind === "webhook" ? values : { ...values, headers: "", eventTypes: values.eventTypes.filter(isForChats) };
  return { ...toBody(taken), url: values.url, kind };
}

const isForChats = (type: string) => type !== EXPIRY && type !== "booking.erased";

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
