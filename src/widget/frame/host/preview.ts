import { MINUTE_MS } from "#contract/durations.ts";
import type { ConfigResponse } from "#contract/widgets/embed-api.ts";
import type { Preview } from "#contract/widgets/frame-messages.ts";
import type { Api } from "../api.ts";

// The dashboard shows the frame next to a widget's settings, with unsaved changes. Everything works as for visitors,
// but no visit is counted and nothing is booked.

const REFERENCE = "SVC-PREVIEW";

/** Null outside the preview, because browsers reveal the element around a frame to its own origin only. */
export function findPreview(): Preview | null {
  const text = window.frameElement?.getAttribute("data-preview");
  return text ? (JSON.parse(text) as Preview) : null;
}

export function toPreviewApi(
  api: Api,
  { businessName, hourCycle, locksTimeZone, showsLogo, privacyUrl }: Preview,
): Api {
  let services: ConfigResponse["services"] = [];
  return {
    ...api,
    async loadConfig() {
      const loaded = await api.loadConfig();
      if (loaded.kind !== "loaded") return loaded;
      services = loaded.value.services;
      const { widget } = loaded.value;
      const logoUrl = showsLogo ? widget.logoUrl : null;
      const shown = { ...widget, businessName, hourCycle, locksTimeZone, privacyUrl, logoUrl, thankYouUrl: null };
      return { kind: "loaded", value: { ...loaded.value, widget: shown } };
    },
    async book({ serviceId, staffId, start, timeZone }) {
      const service = services.find(({ id }) => id === serviceId);
      const end = new Date(Date.parse(start) + (service?.durationMinutes ?? 0) * MINUTE_MS).toISOString();
      const response = {
        reference: REFERENCE,
        status: "confirmed",
        start,
        end,
        timeZone,
        service: { id: serviceId, name: service?.name ?? "" },
        staff: service?.staff.filter(({ id }) => id === staffId) ?? [],
        joinUrl: null,
      };
      return { kind: "booked", response };
    },
    sendSteps: async () => "done",
    beaconSteps: () => undefined,
  };
}
