import { Radio, Stack, Text, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDisclosure } from "@mantine/hooks";
import { IconTargetArrow } from "@tabler/icons-react";
import {
  AD_PLATFORMS,
  type AdPlatform,
  CONVERSION_NAME_DEFAULTS,
  CONVERSION_NAME_LENGTH_MAX,
} from "#contract/app/ad-exports.ts";
import { download } from "../api/call.ts";
import { useAction } from "../hooks/use-action.ts";
import { useOrganization } from "../shell/use-organization.ts";
import { ActionButton } from "../ui/forms/ActionButton.tsx";
import { ActionForm } from "../ui/forms/ActionForm.tsx";
import { FormDialog } from "../ui/forms/FormDialog.tsx";
import { type ShownFilters, toBookingFilters } from "./shown-filters.ts";

type PlatformWords = { label: string; contents: string; name: { label: string; description: string } | null };

const PLATFORM_WORDS: Readonly<Record<AdPlatform, PlatformWords>> = {
  google: {
    label: "Google Ads",
    contents: "Offline conversions: click ID (gclid, gbraid or wbraid), time and reference of each booking.",
    name: { label: "Conversion name", description: "The name of the conversion action in Google Ads." },
  },
  "google-retractions": {
    label: "Google Ads: retractions",
    contents: "Cancelled bookings of the last 54 days that you exported for Google Ads before.",
    name: null,
  },
  microsoft: {
    label: "Microsoft Advertising",
    contents: "Offline conversions: click ID (msclkid) and time of each booking.",
    name: {
      label: "Conversion name",
      description: "The name of the offline conversion goal in Microsoft Advertising.",
    },
  },
  meta: {
    label: "Meta",
    contents:
      "Offline events: click ID (fbc), browser ID (fbp), hashed email address, time and reference of each booking.",
    name: { label: "Event name", description: "Schedule is Meta’s standard event for appointments." },
  },
};

export function AdExportButton({ filters }: { filters: ShownFilters }) {
  const { can } = useOrganization();
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <ActionButton
        variant="default"
        verdict={can("exportAdConversions")}
        leftSection={<IconTargetArrow size={17} stroke={1.6} />}
        onClick={open}
      >
        Export for ads
      </ActionButton>
      <FormDialog opened={isOpen} onClose={close} title="Export for ads">
        <AdExportForm filters={filters} onClose={close} />
      </FormDialog>
    </>
  );
}

function AdExportForm({ filters, onClose }: { filters: ShownFilters; onClose: () => void }) {
  const { id, details } = useOrganization();
  const form = useForm<{ platform: AdPlatform; conversionName: string }>({
    initialValues: { platform: "google", conversionName: CONVERSION_NAME_DEFAULTS.google },
  });
  const { platform } = form.values;
  const words = PLATFORM_WORDS[platform];
  const save = useAction({
    run: (chosen: typeof form.values) =>
      download("exportAdConversions", {
        organization: id,
        query: { ...toBookingFilters(filters, details.timeZone), ...chosen },
      }),
    form,
    successMessage: () => "Download started",
    onDone: onClose,
  });
  const choose = (value: string) => {
    // The group has no other values.
    const next = value as AdPlatform;
    form.setValues({ platform: next, conversionName: CONVERSION_NAME_DEFAULTS[next] });
  };
  return (
    <ActionForm form={form} action={save} label="Download file" onCancel={onClose}>
      <Radio.Group label="Platform" value={platform} onChange={choose}>
        <Stack gap="xs" mt="xs">
          {AD_PLATFORMS.map((each) => (
            <Radio
              key={each}
              value={each}
              label={PLATFORM_WORDS[each].label}
              description={PLATFORM_WORDS[each].contents}
            />
          ))}
        </Stack>
      </Radio.Group>
      {words.name && (
        <TextInput
          label={words.name.label}
          description={words.name.description}
          required
          maxLength={CONVERSION_NAME_LENGTH_MAX}
          {...form.getInputProps("conversionName")}
        />
      )}
      <Text size="sm" c="dimmed">
        {words.name
          ? "The file contains the bookings that match your filters, except test bookings, cancelled ones and bookings without an ID for this platform. Google and Microsoft accept clicks from the last 90 days, Meta events from the last 7 days."
          : "Import the file in Google Ads as conversion adjustments, one day after the conversions. It retracts them with the names they were exported with. Google ignores what is already retracted."}
      </Text>
    </ActionForm>
  );
}
