import { notifications } from "@mantine/notifications";
import { type QueryKey, type UseMutationResult, useMutation, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef } from "react";
import { ApiFailure, explain } from "../api/client.ts";

type ActionForm = {
  setErrors(errors: Record<string, string>): void;
  getInputNode(path: string): HTMLElement | null | undefined;
};

export type ActionOptions<Input, Output> = {
  run: (input: Input) => Promise<Output>;
  /** The toast after success; none if the screen already shows the result. */
  successMessage?: (output: Output, input: Input) => string | null;
  /** Keys of the queries to refresh, or prefixes of keys. */
  refreshes?: readonly QueryKey[];
  /** Not called if the screen or dialog was left before the response came. */
  onDone?: (output: Output, input: Input) => void;
  /** Receives the errors of its fields. */
  form?: ActionForm;
  /** No toast on failure, because the screen shows it with FormFault, as ActionForm does. The default with a form. */
  isQuiet?: boolean;
};

/** After these the server's state may differ from what the screen shows. 0: no response. */
function needsRefresh({ status }: ApiFailure): boolean {
  return [0, 404, 409].includes(status) || status >= 500;
}

/** Runs a user's action, shows a toast and refreshes queries. `action.mutate(input)` does nothing while it is running. */
export function useAction<Input = void, Output = unknown>(
  options: ActionOptions<Input, Output>,
): UseMutationResult<Output, Error, Input> {
  const { form, isQuiet = form !== undefined } = options;
  const queries = useQueryClient();
  const isMounted = useRef(false);
  useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
    };
  }, []);
  const mutation = useMutation<Output, Error, Input>({
    mutationFn: options.run,
    onSuccess: async (output, input) => {
      // Before the refresh, which may itself remove the component.
      const isLeft = !isMounted.current;
      await Promise.all((options.refreshes ?? []).map((queryKey) => queries.invalidateQueries({ queryKey })));
      const sentence = options.successMessage?.(output, input);
      if (sentence) toastDone(sentence);
      if (!isLeft) options.onDone?.(output, input);
    },
    onError: (error) => {
      if (!(error instanceof ApiFailure)) {
        if (!isQuiet) toastFailure(explain(error));
        // A bug: the console shows where.
        throw error;
      }
      const fields = Object.entries(error.fields);
      if (form && fields.length > 0) form.setErrors({ ...error.fields });
      const inputs = fields.map(([path]) => form?.getInputNode(path));
      inputs.find(Boolean)?.focus();
      const unplaced =
        fields.length === 0 ? [error.message] : fields.flatMap(([, fault], i) => (inputs[i] ? [] : [fault]));
      if (unplaced.length > 0 && error.status !== 401 && !isQuiet) toastFailure(unplaced.join(" "));
      if (needsRefresh(error))
        for (const queryKey of options.refreshes ?? []) void queries.invalidateQueries({ queryKey });
    },
  });
  const { mutateAsync } = mutation;
  // A second click can come before React renders `isPending`.
  const isRunning = useRef(false);
  const mutate = useCallback<typeof mutation.mutate>(
    (...input) => {
      if (isRunning.current) return;
      isRunning.current = true;
      const settle = () => {
        isRunning.current = false;
      };
      mutateAsync(...input).then(settle, settle);
    },
    [mutateAsync],
  );
  return { ...mutation, mutate };
}

const SHOWN_MS = 5_000;
/** Failures take longer to read. */
const FAILURE_SHOWN_MS = 10_000;

function toastDone(message: string): void {
  notifications.show({ message, color: "green", autoClose: SHOWN_MS });
}

export function toastFailure(message: string): void {
  notifications.show({ title: "That didn’t work", message, color: "red", autoClose: FAILURE_SHOWN_MS });
}
