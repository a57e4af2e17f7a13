import { useForm } from "@mantine/form";
import { useDebouncedValue } from "@mantine/hooks";
import type { AppWidget } from "#contract/app/widgets.ts";
import { parseAccentColor } from "#contract/widget-looks.ts";
import { changeWidget } from "../../api/queries.ts";
import { useAction } from "../../hooks/use-action.ts";
import { toChange, useFollowedValues } from "../../hooks/use-followed-values.ts";
import { useOrganization } from "../../shell/use-organization.ts";
import { LeaveGuard } from "../../ui/forms/LeaveGuard.tsx";
import classes from "./DesignTab.module.css";
import { Preview } from "./Preview.tsx";
import { WidgetForm } from "./WidgetForm.tsx";
import { toFormValues, toWire, toWords } from "./widget-form.ts";

const SETTLED_MS = 300;

export function DesignTab({ widget }: { widget: AppWidget }) {
  const { id } = useOrganization();
  const form = useForm({ initialValues: toFormValues(widget) });
  useFollowedValues(form, toFormValues(widget), toWords);
  const save = useAction({
    ...changeWidget(id, widget.id),
    form,
    successMessage: (saved) => `${saved.name} saved`,
    onDone: (saved) => {
      const values = toFormValues(saved);
      form.setInitialValues(values);
      form.setValues(values);
    },
  });
  const [values] = useDebouncedValue(form.values, SETTLED_MS);
  const accent = parseAccentColor(values.accentColor.trim());
  return (
    <div className={classes["columns"]}>
      <LeaveGuard isDirty={form.isDirty()}>Your changes to the design haven’t been saved.</LeaveGuard>
      <WidgetForm
        form={form}
        error={save.error}
        isBusy={save.isPending}
        onSave={() => {
          const { was, ...changed } = toChange(form);
          save.mutate({ ...toWire(changed), was: toWire(was) });
        }}
      />
      <Preview widget={widget} values={values} accent={accent} />
    </div>
  );
}
