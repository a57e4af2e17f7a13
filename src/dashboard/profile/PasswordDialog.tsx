import { PasswordInput, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import type { ReactNode } from "react";
import { useAction } from "../hooks/use-action.ts";
import { ActionForm } from "../ui/forms/ActionForm.tsx";
import { FormDialog } from "../ui/forms/FormDialog.tsx";

type PasswordDialogProps<Output> = {
  isOpen: boolean;
  title: string;
  children: ReactNode;
  confirmLabel: string;
  isDangerous?: boolean;
  run: (password: string) => Promise<Output>;
  successMessage?: string;
  onClose: () => void;
  /** The caller closes the dialog, or shows the next step. */
  onDone: (output: Output) => void;
};

export function PasswordDialog<Output>(props: PasswordDialogProps<Output>) {
  const form = useForm({ initialValues: { password: "" } });
  const close = () => {
    form.reset();
    confirm.reset();
    props.onClose();
  };
  const confirm = useAction({
    run: ({ password }: { password: string }) => props.run(password),
    form,
    successMessage: () => props.successMessage ?? null,
    onDone: (output) => {
      form.reset();
      props.onDone(output);
    },
  });
  return (
    <FormDialog opened={props.isOpen} onClose={close} title={props.title}>
      <ActionForm
        form={form}
        action={confirm}
        label={props.confirmLabel}
        isDangerous={props.isDangerous ?? false}
        onCancel={close}
      >
        <Text size="sm" component="div">
          {props.children}
        </Text>
        <PasswordInput
          label="Your password"
          autoComplete="current-password"
          required
          data-autofocus
          {...form.getInputProps("password")}
        />
      </ActionForm>
    </FormDialog>
  );
}
