import { PasswordInput, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import type { ReactNode } from "react";
import { useAction } from "../hooks/use-action.ts";
import { FormButtons, FormDialog } from "../ui/forms/FormDialog.tsx";
import { FormFault } from "../ui/forms/FormFault.tsx";

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
    run: props.run,
    form,
    isQuiet: true,
    successMessage: () => props.successMessage ?? null,
    onDone: (output) => {
      form.reset();
      props.onDone(output);
    },
  });
  return (
    <FormDialog opened={props.isOpen} onClose={close} title={props.title}>
      <form onSubmit={form.onSubmit(({ password }) => confirm.mutate(password))}>
        <Stack gap="md">
          <Text size="sm" component="div">
            {props.children}
          </Text>
          <FormFault error={confirm.error} />
          <PasswordInput
            label="Your password"
            autoComplete="current-password"
            required
            data-autofocus
            {...form.getInputProps("password")}
          />
          <FormButtons
            label={props.confirmLabel}
            isBusy={confirm.isPending}
            isDangerous={props.isDangerous ?? false}
            onCancel={close}
          />
        </Stack>
      </form>
    </FormDialog>
  );
}
