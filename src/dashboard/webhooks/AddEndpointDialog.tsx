import { Modal, Radio, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { AddedEndpoint } from "#contract/app/endpoints.ts";
import { ENDPOINT_KINDS, type EndpointKind } from "#contract/endpoint.ts";
import { call } from "../api/call.ts";
import { endpointRefreshes } from "../api/endpoints.ts";
import { useAction } from "../hooks/use-action.ts";
import { useIdempotencyKey } from "../hooks/use-idempotency-key.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { STAYS_OPEN } from "../ui/copy/ShownOnce.tsx";
import { FormButtons } from "../ui/forms/FormButtons.tsx";
import { FormFault } from "../ui/forms/FormFault.tsx";
import { KINDS, nameOf } from "./endpoint-words.ts";
import { SecretOnce } from "./SecretOnce.tsx";

/** Adds an endpoint, shows its signing secret once, and opens the endpoint's page. */
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
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={added ? "Save the signing secret" : "Add endpoint"}
      size="lg"
      {...(added ? STAYS_OPEN : {})}
    >
      {added ? (
        <SecretOnce secret={added.secret} onDone={() => openEndpoint(added)} />
      ) : (
        <AddForm
          onClose={onClose}
          // Chat cards are not signed, so there is no secret to show.
          onAdded={(answer) => (answer.endpoint.kind === "webhook" ? setAdded(answer) : openEndpoint(answer))}
        />
      )}
    </Modal>
  );
}

function AddForm({ onClose, onAdded }: { onClose: () => void; onAdded: (added: AddedEndpoint) => void }) {
  const { id } = useOrganization();
  const idempotencyKey = useIdempotencyKey();
  const form = useForm({ initialValues: { kind: "webhook" as EndpointKind, url: "", description: "" } });
  const add = useAction({
    run: (body: typeof form.values) => call("addEndpoint", { organization: id, body, idempotencyKey }),
    form,
    isQuiet: true,
    refreshes: endpointRefreshes(id),
    says: ({ endpoint }) => `${nameOf(endpoint)} added`,
    onDone: onAdded,
  });
  const kind = KINDS[form.values.kind];
  return (
    <form onSubmit={form.onSubmit((values) => add.mutate(values))}>
      <Stack gap="md">
        <FormFault error={add.error} />
        <Radio.Group label="Type" {...form.getInputProps("kind")}>
          <Stack gap="sm" mt="xs">
            {ENDPOINT_KINDS.map((each) => (
              <Radio key={each} value={each} label={KINDS[each].name} description={KINDS[each].meaning} />
            ))}
          </Stack>
        </Radio.Group>
        <TextInput
          label="URL"
          description={kind.help}
          placeholder={kind.example}
          inputMode="url"
          autoComplete="off"
          required
          data-autofocus
          {...form.getInputProps("url")}
        />
        <TextInput
          label="Description"
          description="Optional. What the endpoint is for."
          autoComplete="off"
          {...form.getInputProps("description")}
        />
        <FormButtons label="Add endpoint" isBusy={add.isPending} onCancel={onClose} />
      </Stack>
    </form>
  );
}
