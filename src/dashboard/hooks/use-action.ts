import { type QueryKey, type UseMutationResult, useMutation, useQueryClient } from "@tanstack/react-query";
import { ApiFailure } from "../api/client.ts";
import { toastDone, toastFailure } from "../ui/states/toast.ts";

type ActionForm = {
  setErrors(errors: Record<string, string>): void;
  getInputNode(path: string): HTMLElement | null | undefined;
};

export type ActionOptions<Input, Output> = {
  run: (input: Input) => Promise<Output>;
  /** The toast when it went well; without it, or with null, the screen itself says so. */
  says?: (output: Output, input: Input) => string | null;
  /** What is to be read again: keys of queries, or the beginnings of keys. */
  refreshes?: readonly QueryKey[];
  onDone?: (output: Output, input: Input) => void;
  /** Gets what is wrong field by field; whatever else fails is told in a toast. */
  form?: ActionForm;
  /** The screen shows failures itself, with FormFault. */
  isQuiet?: boolean;
};

/** 0: there was no answer. */
const READ_ANEW_AFTER: readonly number[] = [0, 404, 409];

/** Something a person does: runs it, says how it went, and reads anew what it changed. `action.mutate(input)` starts it. */
export function useAction<Input = void, Output = unknown>(
  options: ActionOptions<Input, Output>,
): UseMutationResult<Output, Error, Input> {
  const queries = useQueryClient();
  return useMutation<Output, Error, Input>({
    mutationFn: options.run,
    onSuccess: async (output, input) => {
      await Promise.all((options.refreshes ?? []).map((queryKey) => queries.invalidateQueries({ queryKey })));
      const sentence = options.says?.(output, input);
      if (sentence) toastDone(sentence);
      options.onDone?.(output, input);
    },
    onError: (error) => {
      if (!(error instanceof ApiFailure)) throw error;
      const paths = Object.keys(error.fields);
      const [first] = paths;
      if (options.form && first !== undefined) {
        options.form.setErrors({ ...error.fields });
        options.form.getInputNode(first)?.focus();
      } else if (error.status !== 401 && !options.isQuiet) {
        toastFailure(first === undefined ? error.message : Object.values(error.fields).join(" "));
      }
      // Somebody else may have changed it meanwhile, or it was done and the answer got lost: what is shown should be what is.
      if (READ_ANEW_AFTER.includes(error.status))
        for (const queryKey of options.refreshes ?? []) void queries.invalidateQueries({ queryKey });
    },
  });
}
