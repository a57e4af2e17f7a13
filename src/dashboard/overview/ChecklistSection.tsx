import { Anchor, Button, Collapse, Group, Progress, Text, ThemeIcon, UnstyledButton } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconCheck, IconChevronDown } from "@tabler/icons-react";
import { call } from "../api/call.ts";
import { overviewQuery } from "../api/queries.ts";
import { useAction } from "../hooks/use-action.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ButtonLink, TextLink } from "../ui/layout/links.tsx";
import { Section } from "../ui/layout/Section.tsx";
import classes from "./ChecklistSection.module.css";
import type { ChecklistStep } from "./checklist-steps.ts";

/** How far the setup is, with one next step. It is gone when every step that isn't optional is done. */
export function ChecklistSection({ steps }: { steps: readonly ChecklistStep[] }) {
  const done = steps.filter(({ isDone }) => isDone).length;
  const next = steps.find(({ isDone, isOptional }) => !isDone && !isOptional);
  const [isOpen, all] = useDisclosure(true);
  if (!next) return null;
  return (
    <Section title="Getting started" description={`${done} of ${steps.length} steps done.`} actions={<DismissButton />}>
      <Progress value={(100 * done) / steps.length} mb="md" aria-label="Steps done" />
      <NextStep step={next} />
      <UnstyledButton onClick={all.toggle} aria-expanded={isOpen} className={classes["toggle"]}>
        <Group gap={6}>
          <IconChevronDown size={16} stroke={1.6} aria-hidden data-open={isOpen} />
          <Text size="sm">{isOpen ? "Hide all steps" : "Show all steps"}</Text>
        </Group>
      </UnstyledButton>
      <Collapse expanded={isOpen}>
        <ol className={classes["steps"]}>
          {steps.map((step, index) => (
            <li key={step.key} className={classes["step"]}>
              <ThemeIcon
                size={22}
                radius="xl"
                color={step.isDone ? "green" : "gray"}
                variant={step.isDone ? "filled" : "light"}
              >
                {step.isDone ? (
                  <IconCheck size={14} stroke={2.4} aria-label="Done" />
                ) : (
                  <Text span size="xs" fw={600} aria-hidden>
                    {index + 1}
                  </Text>
                )}
              </ThemeIcon>
              <StepTitle step={step} />
              {step.isOptional && !step.isDone && (
                <Text span size="xs" c="dimmed">
                  optional
                </Text>
              )}
            </li>
          ))}
        </ol>
      </Collapse>
    </Section>
  );
}

function NextStep({ step }: { step: ChecklistStep }) {
  return (
    <div className={classes["next"]}>
      <div>
        <Text size="xs" c="dimmed">
          Next step
        </Text>
        <Text fw={600}>{step.title}</Text>
        <Text size="sm">{step.text}</Text>
      </div>
      {step.outside ? (
        <Button component="a" href={step.outside} {...NEW_TAB}>
          {step.button}
        </Button>
      ) : (
        <ButtonLink to={step.to} search={step.search ?? {}}>
          {step.button}
        </ButtonLink>
      )}
    </div>
  );
}

function DismissButton() {
  const { id } = useOrganization();
  const dismiss = useAction({
    run: () => call("dismissChecklist", { organization: id }),
    refreshes: [overviewQuery(id).queryKey],
    successMessage: () => "Checklist dismissed",
  });
  return (
    <Button variant="default" size="compact-sm" loading={dismiss.isPending} onClick={() => dismiss.mutate()}>
      Dismiss
    </Button>
  );
}

const NEW_TAB = { target: "_blank", rel: "noreferrer" } as const;

function StepTitle({ step }: { step: ChecklistStep }) {
  if (step.isDone)
    return (
      <Text size="sm" c="dimmed">
        {step.title}
      </Text>
    );
  return step.outside ? (
    <Anchor href={step.outside} size="sm" {...NEW_TAB}>
      {step.title}
    </Anchor>
  ) : (
    <TextLink to={step.to} search={step.search ?? {}} size="sm">
      {step.title}
    </TextLink>
  );
}
