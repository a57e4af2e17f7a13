import { MINUTE_MS } from "#contract/durations.ts";
import type { Deps } from "../deps.ts";
import type { Mail } from "../mail/mail.ts";
import { OVERDUE_SECONDS_MAX, observeQueue } from "../webhooks/queue/observe.ts";
import { readDoctorFacts } from "./doctor-queries.ts";

// `doctor`: everything an operator would look at first when something seems wrong, with what to do about it. That the
// settings can be read, and that the database can be opened and is up to date, is settled before this runs.

export type Finding = {
  readonly check: string;
  readonly state: "well" | "warning" | "fault";
  /** What is the case, and what to do. */
  readonly said: string;
};

type DoctorDeps = Pick<Deps, "config" | "db" | "clock" | "log" | "metrics"> & {
  readonly mail: Mail;
  hasBrowserFiles: boolean;
};

const CLOCK_DIFFERENCE_MAX_MS = 5_000;
/** A booking whose outcome is not known is asked about every ten seconds. */
const UNSETTLED_MS = 5 * MINUTE_MS;

export async function examine(deps: DoctorDeps): Promise<Finding[]> {
  const now = deps.clock.now();
  const askedAt = performance.now();
  const facts = await readDoctorFacts(deps.db, new Date(now.getTime() - UNSETTLED_MS));
  const answerMs = Math.round(performance.now() - askedAt);
  const clockMs = Math.abs(facts.now.getTime() - now.getTime());
  return [
    well("database", `PostgreSQL ${facts.version} is up to date and answered in ${answerMs} ms.`),
    clockMs > CLOCK_DIFFERENCE_MAX_MS
      ? warning(
          "clock",
          `PostgreSQL's clock and this machine's differ by ${Math.round(clockMs / 1000)} s: set both by NTP.`,
        )
      : well("clock", "PostgreSQL's clock and this machine's agree."),
    examineAddress(deps),
    deps.hasBrowserFiles
      ? well("browser files", "The loader, the booking frame and the dashboard are built.")
      : fault("browser files", "dist/ is missing, so no widget and no dashboard is served: run npm run build."),
    facts.users === 0
      ? warning(
          "people",
          "Nobody can sign in yet: open the link that the service prints at its start, or use user create.",
        )
      : well("people", `${facts.users} ${facts.users === 1 ? "person" : "people"} can sign in.`),
    await examineMail(deps),
    await examineQueue(deps),
    facts.failing_endpoints > 0
      ? warning(
          "endpoints",
          `Endpoints that do not take deliveries just now: ${facts.failing_endpoints}. Their owners are told.`,
        )
      : well("endpoints", "No endpoint is failing."),
    facts.unsettled > 0
      ? fault(
          "bookings",
          `Bookings that have waited minutes for their outcome: ${facts.unsettled}. Is a worker (ROLE=worker or all) running, and can the scheduling systems be reached?`,
        )
      : well("bookings", "No booking waits for its outcome."),
  ];
}

function examineAddress({ config }: DoctorDeps): Finding {
  const { protocol, hostname } = new URL(config.baseUrl);
  if (protocol === "https:" || hostname === "localhost") return well("address", `The service is ${config.baseUrl}.`);
  return warning(
    "address",
    `BASE_URL is ${config.baseUrl}, without https: cookies and bookings can be read on the way. Put a proxy with TLS in front of it.`,
  );
}

async function examineMail({ mail }: DoctorDeps): Promise<Finding> {
  if (!mail.isOn)
    return warning(
      "mail",
      "SMTP_URL is not set: links for invitations and lost passwords are written to the log instead.",
    );
  const problem = await mail.check();
  return problem === null
    ? well("mail", "The mail server accepts our sign-in.")
    : fault("mail", `The mail server of SMTP_URL cannot be used (${problem}).`);
}

async function examineQueue(deps: DoctorDeps): Promise<Finding> {
  const measure = await observeQueue(deps);
  if (measure === null) return fault("deliveries", "The queue of deliveries could not be read.");
  const { waiting, in_flight: inFlight, overdue_seconds: overdue } = measure;
  return overdue > OVERDUE_SECONDS_MAX
    ? fault(
        "deliveries",
        `Deliveries could have been sent ${Math.round(overdue)} s ago: is a worker (ROLE=worker or all) running?`,
      )
    : well("deliveries", `${waiting} wait for their time, ${inFlight} are being sent, none is late.`);
}

const well = (check: string, said: string): Finding => ({ check, state: "well", said });
const warning = (check: string, said: string): Finding => ({ check, state: "warning", said });
const fault = (check: string, said: string): Finding => ({ check, state: "fault", said });
