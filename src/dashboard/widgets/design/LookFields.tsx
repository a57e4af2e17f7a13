import { NumberInput, Select, SimpleGrid, Switch, Text, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { BUTTON_LABEL_LENGTH_MAX, CORNER_RADIUS_MAX, PAGE_FONT } from "#contract/widgets/widget-looks.ts";
import { formatZone } from "../../format.ts";
import { useOrganization } from "../../shell/use-organization.ts";
import { TextLink } from "../../ui/layout/links.tsx";
import { HOUR_CYCLE_NAMES, LANGUAGE_NAMES } from "../widget-words.ts";
import type { WidgetValues } from "./widget-form.ts";

type FieldsProps = { form: UseFormReturnType<WidgetValues>; readOnly: boolean };

const AUTOMATIC = "automatic";
const SYSTEM_FONT = "system-ui";

export function LookFields({ form, readOnly }: FieldsProps) {
  const { details } = useOrganization();
  return (
    <>
      <LogoSwitch form={form} readOnly={readOnly} />
      <NumberInput
        label="Corner radius"
        description="In pixels."
        placeholder="Template default"
        min={0}
        max={CORNER_RADIUS_MAX}
        allowDecimal={false}
        readOnly={readOnly}
        error={form.errors["cornerRadius"]}
        value={form.getValues().cornerRadius}
        onChange={(value) => form.setFieldValue("cornerRadius", String(value))}
      />
      <FontSelect form={form} readOnly={readOnly} />
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md" style={{ alignItems: "end" }}>
        <Choice
          label="Language"
          description="Automatic follows your page."
          names={LANGUAGE_NAMES}
          form={form}
          name="language"
          readOnly={readOnly}
        />
        <Choice
          label="Time format"
          description="Automatic follows the language."
          names={HOUR_CYCLE_NAMES}
          form={form}
          name="hourCycle"
          readOnly={readOnly}
        />
      </SimpleGrid>
      <Switch
        label="Lock time zone"
        description={`For appointments in person: visitors see their times in ${formatZone(details.timeZone)} and can’t choose another time zone. Online services keep the choice.`}
        checked={form.getValues().locksTimeZone === "yes"}
        disabled={readOnly}
        onChange={(event) => form.setFieldValue("locksTimeZone", event.currentTarget.checked ? "yes" : "no")}
      />
      <TextInput
        label="Button label"
        description="On the floating button. Defaults to “Book an appointment” in the visitor’s language."
        placeholder="Book an appointment"
        maxLength={BUTTON_LABEL_LENGTH_MAX}
        readOnly={readOnly}
        {...form.getInputProps("buttonLabel")}
      />
    </>
  );
}

function LogoSwitch({ form, readOnly }: FieldsProps) {
  const { details, paths } = useOrganization();
  const { showsLogo } = form.getValues();
  return (
    <div>
      <Switch
        label="Show logo"
        checked={showsLogo === "yes" && details.logoUrl !== null}
        disabled={readOnly || details.logoUrl === null}
        onChange={(event) => form.setFieldValue("showsLogo", event.currentTarget.checked ? "yes" : "no")}
      />
      {details.logoUrl === null && (
        <Text size="xs" c="dimmed" mt={4}>
          <TextLink to={paths.settings} underline="always">
            Upload a logo in Settings
          </TextLink>{" "}
          first.
        </Text>
      )}
    </div>
  );
}

/** The system's font, which the form holds as an empty string, or the page's. A name that was set elsewhere stays. */
function FontSelect({ form, readOnly }: FieldsProps) {
  const { value, onChange, error } = form.getInputProps("fontFamily");
  const isNamed = value !== "" && value !== PAGE_FONT;
  return (
    <Select
      label="Font"
      description={
        value === PAGE_FONT
          ? "Used on your website only; the preview shows the system font. Web fonts such as Google Fonts aren’t loaded."
          : "Your page’s own font makes the widget match it."
      }
      data={[
        { value: SYSTEM_FONT, label: "System font" },
        { value: PAGE_FONT, label: "Your page’s own font" },
        ...(isNamed ? [{ value, label: value }] : []),
      ]}
      value={value === "" ? SYSTEM_FONT : value}
      onChange={(chosen) => onChange(chosen === SYSTEM_FONT ? "" : chosen)}
      error={error}
      allowDeselect={false}
      readOnly={readOnly}
    />
  );
}

/** One of a few words, or automatic, which the form holds as an empty string. */
function Choice({
  names,
  form,
  name,
  ...props
}: FieldsProps & {
  label: string;
  description: string;
  names: Readonly<Record<string, string>>;
  name: "language" | "hourCycle";
}) {
  const { value, onChange, error } = form.getInputProps(name);
  return (
    <Select
      {...props}
      data={[
        { value: AUTOMATIC, label: "Automatic" },
        ...Object.entries(names).map(([word, label]) => ({ value: word, label })),
      ]}
      value={value === "" ? AUTOMATIC : value}
      onChange={(chosen) => onChange(chosen === AUTOMATIC ? "" : chosen)}
      error={error}
      allowDeselect={false}
    />
  );
}
