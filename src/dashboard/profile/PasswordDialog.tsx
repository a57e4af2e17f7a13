import { Modal, PasswordInput, Stack, Text } from "@mantine/core";
import { useForm } from "@mantine/form";
import type { ReactNode } from "react";
import { useAction } from "../hooks/use-action.ts";
import { FormButtons } from "../ui/forms/FormButtons.tsx";
import { FormFault } from "../ui/forms/FormFault.tsx";

type PasswordDialogProps<Output> = {
  isOpen: boolean;
  title: string;
  children: ReactNode;
  confirmLabel: string;
  isDangerous?: boolean;
  run: (password: string) => Promise<Output>;
  /** The toast afterwards, where the screen does not say it itself. */
  says?: string;
  onClose: () => void;
  /** It is not closed by itself: what follows may take its place. */
  onDone: (output: Output) => void;
};

/** Something that takes one's password once more. */
export function PasswordDialog<Output>(about: PasswordDialogProps<Output>) {
  const form = useForm({ initialValues: { password: "" } });
  const close = () => {
    form.reset();
    about.onClose();
  };
  const confirm = useAction({
    run: about.run,
    form,
    isQuiet: true,
    says: () => about.says ?? null,
    onDone: (output) => {
      form.reset();
      about.onDone(output);
    },
  });
  return (
    <Modal opened={about.isOpen} onClose={close} title={about.title}>
      <form onSubmit={form.onSubmit(({ password }) => confirm.mutate(password))}>
        <Stack gap="md">
          <Text size="sm" component="div">
            {about.children}
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
            label={about.confirmLabel}
            isBusy={confirm.isPending}
            isDangerous={about.isDangerous ?? false}
            onCancel={close}
          />
        </Stack>
      </form>
    </Modal>
  );
}
