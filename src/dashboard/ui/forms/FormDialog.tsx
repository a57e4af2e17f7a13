import { Modal, type ModalProps } from "@mantine/core";
import { createContext, useState } from "react";

/** How a form tells the dialog around it whether it is being sent. */
export const FormDialogContext = createContext<(isBusy: boolean) => void>(() => undefined);

/** Can't be closed while the form is being sent: the answer may be a secret that is shown only once. */
export function FormDialog({ onClose, ...props }: ModalProps) {
  const [isBusy, setBusy] = useState(false);
  return (
    <FormDialogContext value={setBusy}>
      <Modal
        {...props}
        onClose={() => {
          if (!isBusy) onClose();
        }}
      />
    </FormDialogContext>
  );
}
