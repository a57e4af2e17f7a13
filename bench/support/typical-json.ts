import type { Reference } from "#contract/ids.ts";
import { toApiJson } from "../../src/server/bookings/stored/to-api-json.ts";

const at = new Date("2026-11-05T09:00:00.000Z");

/** For rows that are made by PostgreSQL: as long as the JSON of such a booking, but the same for each of them. */
export const TYPICAL_API_JSON = toApiJson({
  reference: "SVC-7KQ2MX" as Reference,
  status: "confirmed",
  created_at: at,
  start_at: at,
  end_at: at,
  time_zone: "Europe/Berlin",
  service_id: "service-1",
  service_name: "Check-up",
  staff: [{ id: "staff-1", name: "Dr. Ada Winter" }],
  customer_name: "Mara Quell 1234",
  customer_email: "mara.1234@example.com",
  customer_phone: "+49 30 901820",
  customer_notes: null,
  answers: [{ questionId: "q1", question: "Is this your first visit?", answer: "Yes" }],
  attribution: {
    source: "google",
    medium: "cpc",
    campaign: "autumn",
    channel: "Paid Search",
    touches: 2,
    utmSource: "google",
    utmMedium: "cpc",
    utmCampaign: "autumn",
    landingPage: "https://lindenhof.example/lp",
  },
  manage_url: "https://scheduler.example.com/manage/1234",
});
