import { Button, Group, Radio, Stack, Text, TextInput, Title } from "@mantine/core";
import { type UseFormReturnType, useForm } from "@mantine/form";
import { useEffect, useId, useRef, useState } from "react";
import type { SavedConnection } from "#contract/app/connections.ts";
import { CONNECTION_KINDS, type ConnectionKind } from "#contract/scheduling.ts";
import { call } from "../api/call.ts";
import { ApiFailure } from "../api/client.ts";
import { connectionsQuery } from "../api/queries.ts";
import { useAction } from "../hooks/use-action.ts";
import { useIdempotencyKey } from "../hooks/use-idempotency-key.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { FormButtons } from "../ui/forms/FormDialog.tsx";
import { FormFault } from "../ui/forms/FormFault.tsx";
import classes from "./AddConnectionForm.module.css";
import { AdvancedFields, ConnectionFields } from "./ConnectionFields.tsx";
import { type ConnectionValues, findFault, toParts, toValues } from "./connection-form.ts";
import { CONNECTION_STEPS } from "./connection-steps.tsx";
import { wordsOf } from "./connection-words.ts";

type AddConnectionFormProps = { onClose: () => void; onSaved: (saved: SavedConnection) => void };

/** Leads through the system's own pages, one step at a time. The first step chooses the system; the last one checks it. */
export function AddConnectionForm({ onClose, onSaved }: AddConnectionFormProps) {
  const { id } = useOrganization();
  const [kind, setKind] = useState<ConnectionKind>("microsoft-bookings");
  const [stepNumber, setStepNumber] = useState(0);
  const idempotencyKey = useIdempotencyKey();
  const form = useForm<ConnectionValues>({ initialValues: toValues(null) });
  const steps = CONNECTION_STEPS[kind];
  const add = useAction({
    run: (values: ConnectionValues) =>
      call("addConnection", {
        organization: id,
        body: { kind, name: values.name, ...toParts(kind, values) },
        idempotencyKey,
      }),
    form,
    refreshes: [connectionsQuery(id).queryKey],
    successMessage: ({ connection }) => `${connection.name} added`,
    onDone: onSaved,
  });
  const { error } = add;
  useEffect(() => {
    if (!(error instanceof ApiFailure)) return;
    const wrong = steps.findIndex(({ fields }) => fields.some((name) => name in error.fields));
    if (wrong !== -1) setStepNumber(wrong + 1);
  }, [error, steps]);
  const choose = (next: ConnectionKind) => {
    setKind(next);
    form.setFieldValue("name", wordsOf(next).name);
    setStepNumber(1);
  };
  const isLast = stepNumber === steps.length;
  const proceed = (values: ConnectionValues) => {
    const faults = (steps[stepNumber - 1]?.fields ?? []).map((name) => [name, findFault(name, values)] as const);
    form.setErrors(Object.fromEntries(faults.filter(([, fault]) => fault !== null)));
    if (faults.some(([, fault]) => fault !== null)) return;
    if (isLast) add.mutate(values);
    else setStepNumber(stepNumber + 1);
  };
  if (stepNumber === 0) return <SystemChoice kind={kind} onClose={onClose} onChoose={choose} />;
  return (
    <form onSubmit={form.onSubmit(proceed)} noValidate>
      <Stack gap="md">
        <FormFault error={add.error} />
        <Step key={`${kind} ${stepNumber}`} kind={kind} stepNumber={stepNumber} form={form} isLast={isLast} />
        <Group justify="space-between" gap="xs">
          <Button variant="subtle" onClick={() => setStepNumber(stepNumber - 1)}>
            Back
          </Button>
          <FormButtons label={isLast ? "Check and add" : "Continue"} isBusy={add.isPending} onCancel={onClose} />
        </Group>
      </Stack>
    </form>
  );
}

type StepProps = {
  kind: ConnectionKind;
  stepNumber: number;
  form: UseFormReturnType<ConnectionValues>;
  isLast: boolean;
};

function Step({ kind, stepNumber, form, isLast }: StepProps) {
  const steps = CONNECTION_STEPS[kind];
  const step = steps[stepNumber - 1];
  const heading = useRef<HTMLHeadingElement>(null);
  // Screen readers announce the new step.
  useEffect(() => heading.current?.focus(), []);
  if (!step) return null;
  return (
    <>
      <div>
        <Text size="xs" c="dimmed">
          {wordsOf(kind).name}
          {steps.length > 1 && `, step ${stepNumber} of ${steps.length}`}
        </Text>
        <Title order={3} ref={heading} tabIndex={-1} className={classes["heading"]}>
          {step.title}
        </Title>
      </div>
      {step.guide}
      <ConnectionFields kind={kind} form={form} only={step.fields} />
      {isLast && (
        <>
          <TextInput
            label="Name"
            description="Shown in the dashboard only."
            autoComplete="off"
            required
            {...form.getInputProps("name")}
          />
          <AdvancedFields kind={kind} form={form} />
          <Text size="sm" c="dimmed">
            We check the connection before saving. This can take a few seconds.
          </Text>
        </>
      )}
    </>
  );
}

const DESCRIPTIONS: Readonly<Record<ConnectionKind, string>> = {
  "microsoft-bookings": "Needs a Microsoft 365 administrator. Takes about ten minutes.",
  calcom: "Needs an API key from your account. Takes about two minutes.",
  calendly: "Needs a token from your account. Takes about two minutes.",
};

type SystemChoiceProps = {
  kind: ConnectionKind;
  onChoose: (kind: ConnectionKind) => void;
  onClose: () => void;
};

function SystemChoice({ kind, onChoose, onClose }: SystemChoiceProps) {
  const [chosen, setChosen] = useState(kind);
  const id = useId();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onChoose(chosen);
      }}
    >
      <Stack gap="md">
        <Radio.Group
          label="Where do you manage your appointments?"
          value={chosen}
          onChange={(value) => setChosen(value as ConnectionKind)}
        >
          <Stack gap="xs" mt="xs">
            {CONNECTION_KINDS.map((each) => (
              <Radio.Card
                key={each}
                value={each}
                className={classes["card"]}
                aria-label={wordsOf(each).name}
                aria-describedby={`${id}-${each}`}
                data-autofocus={each === kind || undefined}
              >
                <Group wrap="nowrap" align="flex-start" gap="sm">
                  <Radio.Indicator mt={2} />
                  <div>
                    <Text size="sm" fw={500}>
                      {wordsOf(each).name}
                    </Text>
                    <Text size="xs" c="dimmed" id={`${id}-${each}`}>
                      {DESCRIPTIONS[each]}
                    </Text>
                  </div>
                </Group>
              </Radio.Card>
            ))}
          </Stack>
        </Radio.Group>
        <FormButtons label="Continue" onCancel={onClose} />
      </Stack>
    </form>
  );
}
