import { Radio, SimpleGrid, Text } from "@mantine/core";
import type { Template } from "#contract/widgets/widget.ts";
import { TEMPLATES } from "../widget-words.ts";
import classes from "./TemplateChoice.module.css";

type TemplateChoiceProps = {
  value?: Template;
  onChange?: (template: Template) => void;
  error?: React.ReactNode;
  readOnly?: boolean;
};

export function TemplateChoice({ value = "classic", onChange, error, readOnly = false }: TemplateChoiceProps) {
  return (
    <Radio.Group
      label="Template"
      value={value}
      error={error}
      errorProps={{ mt: 6 }}
      onChange={(chosen) => !readOnly && onChange?.(chosen as Template)}
    >
      <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="xs" mt={6}>
        {Object.entries(TEMPLATES).map(([template, { name, meaning }]) => (
          <Radio.Card key={template} value={template} className={classes["card"]} aria-label={name} disabled={readOnly}>
            <div className={classes["head"]}>
              <Radio.Indicator size="xs" />
              <Text size="sm" fw={500}>
                {name}
              </Text>
            </div>
            <Text size="xs" c="dimmed">
              {meaning}
            </Text>
          </Radio.Card>
        ))}
      </SimpleGrid>
    </Radio.Group>
  );
}
