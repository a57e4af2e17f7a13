import { Alert, Radio, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { AddedEndpoint, NewEndpoint } from "#contract/app/endpoints.ts";
import { ENDPOINT_KINDS, type EndpointKind } from "#contract/endpoint.ts";
import { call } from "../api/call.ts";
import { endpointRefreshes, endpointsQuery } from "../api/queries.ts";
import { useAction } from "../hooks/use-action.ts";
import { useIdempotencyKey } from "../hooks/use-idempotency-key.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { PERSISTENT } from "../ui/copy/ShownOnce.tsx";
import { ActionForm } from "../ui/forms/ActionForm.tsx";
import { FormDialog } from "../ui/forms/FormDialog.tsx";
import { EndpointFields } from "./EndpointFields.tsx";
import { type EndpointValues, EXPIRY, NEW_ENDPOINT, toBody } from "./endpoint-form.ts";
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
          onAdded={(answer) => (answer.secret === null ? openEndpoint(answer) : setAdded(answer))}
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
