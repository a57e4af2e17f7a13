import { Button, Stack } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import type { ReactNode } from "react";
import { FormButtons, type FormButtonsProps } from "./FormDialog.tsx";
import { FormFault } from "./FormFault.tsx";

type ActionFormProps<Values> = Partial<Omit<FormButtonsProps, "isBusy">> & {
  form: Pick<UseFormReturnType<Values>, "onSubmit">;
  /** Of useAction, with the same form. */
  action: { error: Error | null; isPending: boolean; mutate: (values: Values) => void };
  children: ReactNode;
};

/** A form with its error and its button. In a dialog, `onCancel` adds a second button. Without `label`, the buttons are among the children. */
export function ActionForm<Values>(props: ActionFormProps<Values>) {
  const { form, action, children, label, onCancel, ...buttons } = props;
  return (
    <form onSubmit={form.onSubmit((values) => action.mutate(values))}>
      <Stack gap="md">
        <FormFault error={action.error} />
        {children}
        {label !== undefined && onCancel && (
          <FormButtons {...{ label, onCancel, ...buttons }} isBusy={action.isPending} />
        )}
        {label !== undefined && !onCancel && (
          <Button type="submit" fullWidth loading={action.isPending}>
            {label}
          </Button>
        )}
      </Stack>
    </form>
  );
}
