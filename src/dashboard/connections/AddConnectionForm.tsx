import { Button, Group, Radio, Stack, Text, TextInput, Title } from "@mantine/core";
import { type UseFormReturnType, useForm } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useId, useRef, useState } from "react";
import type { NewConnection, SavedConnection } from "#contract/app/connections.ts";
import { CONNECTION_KINDS, type ConnectionKind } from "#contract/scheduling.ts";
import { call } from "../api/call.ts";
import { ApiFailure } from "../api/client.ts";
import { connectionsQuery } from "../api/connections.ts";
import { widgetsQuery } from "../api/widgets.ts";
import { useAction } from "../hooks/use-action.ts";
import { useIdempotencyKey } from "../hooks/use-idempotency-key.ts";
import { useUrlState } from "../hooks/use-url-state.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { FormButtons } from "../ui/forms/FormButtons.tsx";
import { FormFault } from "../ui/forms/FormFault.tsx";
import classes from "./AddConnectionForm.module.css";
import { AdvancedFields, ConnectionFields } from "./ConnectionFields.tsx";
import { type ConnectionValues, findFault, toParts, toValues } from "./connection-form.ts";
import { CONNECTION_STEPS, PRACTICE_STEPS } from "./connection-steps.tsx";
import { wordsOf } from "./connection-words.ts";

type AddConnectionFormProps = { onClose: () => void; onSaved: (saved: SavedConnection) => void };

/** A scheduling system, or the practice Cal.com. */
type Choice = ConnectionKind | "practice";

const stepsOf = (choice: Choice) => (choice === "practice" ? PRACTICE_STEPS : CONNECTION_STEPS[choice]);
const toKind = (choice: Choice): ConnectionKind => (choice === "practice" ? "calcom" : choice);
const nameOf = (choice: Choice) => (choice === "practice" ? "Practice Cal.com" : wordsOf(choice).name);

/** Leads through the system's own pages, one step at a time. The first step chooses the system; the last one checks it. */
export function AddConnectionForm({ onClose, onSaved }: AddConnectionFormProps) {
  const { id } = useOrganization();
  const [choice, setChoice] = useState<Choice>("microsoft-bookings");
  const practice = usePractice();
  const [place, setPlace] = useState(0);
  const idempotencyKey = useIdempotencyKey();
  const form = useForm<ConnectionValues>({ initialValues: toValues(null) });
  const [steps, kind] = [stepsOf(choice), toKind(choice)];
  const add = useAction({
    run: (values: ConnectionValues) =>
      call("addConnection", {
        organization: id,
        body: { kind, name: values.name, ...((choice === "practice" && practice.parts) || toParts(kind, values)) },
        idempotencyKey,
      }),
    form,
    isQuiet: true,
    refreshes: [connectionsQuery(id).queryKey],
    successMessage: ({ connection }) => `${connection.name} added`,
    onDone: onSaved,
  });
  const { error } = add;
  useEffect(() => {
    if (!(error instanceof ApiFailure)) return;
    const wrong = steps.findIndex(({ fields }) => fields.some((name) => name in error.fields));
    if (wrong !== -1) setPlace(wrong + 1);
  }, [error, steps]);
  const choose = (next: Choice) => {
    setChoice(next);
    form.setFieldValue("name", nameOf(next));
    setPlace(1);
  };
  const isLast = place === steps.length;
  const proceed = (values: ConnectionValues) => {
    const faults = (steps[place - 1]?.fields ?? []).map((name) => [name, findFault(name, values)] as const);
    form.setErrors(Object.fromEntries(faults.filter(([, fault]) => fault !== null)));
    if (faults.some(([, fault]) => fault !== null)) return;
    if (isLast) add.mutate(values);
    else setPlace(place + 1);
  };
  if (place === 0) return <SystemChoice {...{ choice, practice, onClose }} onChoose={choose} />;
  return (
    <form onSubmit={form.onSubmit(proceed)} noValidate>
      <Stack gap="md">
        <FormFault error={add.error} />
        <Step key={`${choice} ${place}`} choice={choice} place={place} form={form} isLast={isLast} />
        <Group justify="space-between" gap="xs">
          <Button variant="subtle" onClick={() => setPlace(place - 1)}>
            Back
          </Button>
          <FormButtons label={isLast ? "Check and add" : "Continue"} isBusy={add.isPending} onCancel={onClose} />
        </Group>
      </Stack>
    </form>
  );
}

type Practice = { readonly isOffered: boolean; readonly parts: Pick<NewConnection, "settings" | "credentials"> | null };

/**
 * The parts of a connection to the practice Cal.com. Its calendar is that of the widget the dialog was opened for, or else of the
 * oldest one, so there are no parts before the first widget.
 */
function usePractice(): Practice {
  const { id } = useOrganization();
  const [{ widget: wanted }] = useUrlState({ widget: "" });
  const practiceUrl = useQuery(connectionsQuery(id)).data?.practiceUrl;
  const widgets = useQuery(widgetsQuery(id)).data?.data;
  if (!practiceUrl || !widgets) return { isOffered: false, parts: null };
  const widget = widgets.find((each) => each.id === wanted) ?? widgets.at(-1);
  if (!widget) return { isOffered: true, parts: null };
  const address = `${practiceUrl}/${widget.id}`;
  const parts = { settings: { apiUrl: address, webUrl: address }, credentials: { apiKey: "practice" } };
  return { isOffered: true, parts };
}

type StepProps = { choice: Choice; place: number; form: UseFormReturnType<ConnectionValues>; isLast: boolean };

function Step({ choice, place, form, isLast }: StepProps) {
  const steps = stepsOf(choice);
  const kind = toKind(choice);
  const step = steps[place - 1];
  const heading = useRef<HTMLHeadingElement>(null);
  // Screen readers announce the new step.
  useEffect(() => heading.current?.focus(), []);
  if (!step) return null;
  return (
    <>
      <div>
        <Text size="xs" c="dimmed">
          {nameOf(choice)}
          {steps.length > 1 && `, step ${place} of ${steps.length}`}
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
          {choice !== "practice" && <AdvancedFields kind={kind} form={form} />}
          <Text size="sm" c="dimmed">
            We check the connection before saving. This can take a few seconds.
          </Text>
        </>
      )}
    </>
  );
}

const DESCRIPTIONS: Readonly<Record<Choice, string>> = {
  "microsoft-bookings": "Needs a Microsoft 365 administrator. Takes about ten minutes.",
  calcom: "Needs an API key from your account. Takes about two minutes.",
  calendly: "Needs a token from your account. Takes about two minutes.",
  practice: "No account needed. A practice calendar on this computer, to try out going live.",
};

type SystemChoiceProps = {
  choice: Choice;
  practice: Practice;
  onChoose: (choice: Choice) => void;
  onClose: () => void;
};

function SystemChoice({ choice, practice, onChoose, onClose }: SystemChoiceProps) {
  const [chosen, setChosen] = useState(choice);
  const choices: readonly Choice[] = [...CONNECTION_KINDS, ...(practice.isOffered ? ["practice" as const] : [])];
  const needsWidget = (each: Choice) => each === "practice" && practice.parts === null;
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
          onChange={(value) => setChosen(value as Choice)}
        >
          <Stack gap="xs" mt="xs">
            {choices.map((each) => (
              <Radio.Card
                key={each}
                value={each}
                className={classes["card"]}
                aria-label={nameOf(each)}
                aria-describedby={`${id}-${each}`}
                disabled={needsWidget(each)}
                data-autofocus={each === choice || undefined}
              >
                <Group wrap="nowrap" align="flex-start" gap="sm">
                  <Radio.Indicator mt={2} disabled={needsWidget(each)} />
                  <div>
                    <Text size="sm" fw={500}>
                      {nameOf(each)}
                    </Text>
                    <Text size="xs" c="dimmed" id={`${id}-${each}`}>
                      {needsWidget(each)
                        ? "Create a widget first: this calendar belongs to a widget."
                        : DESCRIPTIONS[each]}
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
