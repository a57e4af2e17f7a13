import Fastify from "fastify";
import { BookingPage } from "#contract/bookings/booking.ts";

// The baseline for the read API: the same page of bookings, serialised with the same schema, from memory. It has no key, no
// database and no parameter except the page size.

const PAGE_SIZE_DEFAULT = 100;

const booking = {
  reference: "SVC-7KQ2MX",
  status: "confirmed",
  createdAt: "2026-11-01T12:00:00.000Z",
  start: "2026-11-05T09:00:00.000Z",
  end: "2026-11-05T09:30:00.000Z",
  timeZone: "Europe/Berlin",
  service: { id: "service-1", name: "Check-up" },
  staff: ["Dr. Ada Winter"],
  customer: { name: "Mara Quell", email: "mara.quell@example.com", phone: "+49 30 901820", notes: null },
  answers: [{ questionId: "q1", question: "Is this your first visit?", answer: "Yes" }],
  attribution: { source: "google", medium: "cpc", campaign: "autumn", channel: "Paid Search", touches: 2 },
  manageUrl: "https://scheduler.example.com/manage/1",
};

const app = Fastify();
app.get("/readyz", async () => "ready");
app.get<{ Querystring: { limit?: string } }>(
  "/bookings",
  { schema: { response: { 200: BookingPage } } },
  async (request) => {
    const limit = Number(request.query.limit ?? PAGE_SIZE_DEFAULT);
    return { data: Array.from({ length: limit }, () => booking), nextCursor: null };
  },
);
await app.listen({ host: "127.0.0.1", port: Number(process.env["PORT"]) });
process.on("SIGTERM", () => void app.close());
