import { Alert, NativeSelect, PasswordInput, Stack, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { IconAlertCircle } from "@tabler/icons-react";
import type { ConnectionKind } from "#contract/scheduling.ts";
import { Fold } from "../ui/layout/Fold.tsx";
import type { ConnectionValues } from "./connection-form.ts";
import { type ConnectionWords, wordsOf } from "./connection-words.ts";

type FieldsProps = { kind: ConnectionKind; form: UseFormReturnType<ConnectionValues> };

/** The fields of a scheduling system. URLs with defaults are collapsed. */
export function ConnectionFields({ kind, form }: FieldsProps) {
  const { settings, credentials, optional } = wordsOf(kind);
  const propsOf = ({ name, options: _, ...field }: ConnectionWords["settings"][number]) => ({
    key: name,
    autoComplete: "off",
    spellCheck: false,
    ...field,
    ...form.getInputProps(name),
  });
  const text = (isRequired: boolean) => (field: ConnectionWords["settings"][number]) => {
    const { key, ...props } = propsOf(field);
    if (!field.options) return <TextInput key={key} required={isRequired} {...props} />;
    const choices = Object.entries(field.options).map(([value, label]) => ({ value, label }));
    return <NativeSelect key={key} data={choices} {...props} value={props.value || choices[0]?.value} />;
  };
  return (
    <Stack gap="md">
      {settings.map(text(true))}
      {credentials.map((field) => {
        const { key, ...props } = propsOf(field);
        return <PasswordInput key={key} required {...props} autoComplete="new-password" />;
      })}
      <Fold label="Advanced" isOpen={optional.some(({ name }) => form.errors[name] !== undefined)}>
        <Stack gap="md">{optional.map(text(false))}</Stack>
      </Fold>
    </Stack>
  );
}

/** The system's error about the credentials as a whole. */
export function CredentialsFault({ form }: Pick<FieldsProps, "form">) {
  const fault = form.errors["credentials"];
  if (!fault) return null;
  return (
    <Alert color="red" variant="light" role="alert" icon={<IconAlertCircle size={20} stroke={1.6} />}>
      {fault}
    </Alert>
  );
}
