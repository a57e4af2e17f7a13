import { NativeSelect, PasswordInput, Stack, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import type { ConnectionKind } from "#contract/scheduling.ts";
import { Collapsible } from "../ui/layout/Collapsible.tsx";
import type { ConnectionValues } from "./connection-form.ts";
import { type ConnectionWords, type FieldName, wordsOf } from "./connection-words.ts";

type FieldsProps = { kind: ConnectionKind; form: UseFormReturnType<ConnectionValues> };

export function ConnectionFields({ kind, form, only }: FieldsProps & { only?: readonly FieldName[] }) {
  const { settings, credentials } = wordsOf(kind);
  const isShown = ({ name }: { name: FieldName }) => only === undefined || only.includes(name);
  return (
    <Stack gap="md">
      {settings.filter(isShown).map((field) => (
        <TextField key={field.name} form={form} field={field} isRequired />
      ))}
      {credentials.filter(isShown).map((field) => (
        <PasswordInput key={field.name} required {...toProps(form, field)} autoComplete="new-password" />
      ))}
    </Stack>
  );
}

/** URLs and other fields with a default, collapsed. */
export function AdvancedFields({ kind, form }: FieldsProps) {
  const { optional } = wordsOf(kind);
  return (
    <Collapsible label="Advanced" isOpen={optional.some(({ name }) => form.errors[name] !== undefined)}>
      <Stack gap="md">
        {optional.map((field) => (
          <TextField key={field.name} form={form} field={field} />
        ))}
      </Stack>
    </Collapsible>
  );
}

type WordsField = ConnectionWords["settings"][number];
type FieldProps = Pick<FieldsProps, "form"> & { field: WordsField; isRequired?: boolean };

function TextField({ form, field, isRequired = false }: FieldProps) {
  const props = toProps(form, field);
  if (!field.options) return <TextInput required={isRequired} {...props} />;
  const choices = Object.entries(field.options).map(([value, label]) => ({ value, label }));
  return <NativeSelect data={choices} {...props} value={props.value || choices[0]?.value} />;
}

function toProps(form: FieldsProps["form"], { name, options: _, ...field }: WordsField) {
  return { autoComplete: "off", spellCheck: false, ...field, ...form.getInputProps(name) };
}
