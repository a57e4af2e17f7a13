import { Alert } from "@mantine/core";
import { IconAlertCircle } from "@tabler/icons-react";
import { ApiFailure, explain } from "../../api/client.ts";

/** The error of a whole form. Errors of single fields are shown at the fields. */
export function FormFault({ error }: { error: Error | null }) {
  if (!error || (error instanceof ApiFailure && Object.keys(error.fields).length > 0)) return null;
  return (
    <Alert color="red" variant="light" role="alert" icon={<IconAlertCircle size={20} stroke={1.6} />}>
      {explain(error)}
    </Alert>
  );
}
