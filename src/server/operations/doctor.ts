import { isLoopback } from "#contract/app/addresses.ts";
import { MINUTE_MS } from "#contract/durations.ts";
import { describeLateCommitters, listLateCommitters } from "../db/citus/late-commits.ts";
import { engineOf } from "../db/engine.ts";
import type { Deps } from "../deps.ts";
import type { Mail } from "../mail/mail.ts";
import { OVERDUE_SECONDS_MAX, observeQueue } from "../webhooks/webhooks.ts";
import { describeDatabase, readDoctorFacts } from "./doctor-queries.ts";

// `doctor` checks everything an operator would check first when something seems wrong, and says what to do. Settings
// and database have already been opened and migrated when this runs.

export type Finding = {
  readonly check: string;
  readonly state: "ok" | "warning" | "fault";
  /** What was found, and what to do. */
  readonly message: string;
};

type DoctorDeps = Pick<Deps, "config" | "db" | "clock" | "log" | "metrics"> & {
  readonly mail: Mail;
  hasBrowserFiles: boolean;
};

const CLOCK_DIFFERENCE_MAX_MS = 5_000;
/** A booking without a result is looked up every ten seconds. */
const UNSETTLED_MS = 5 * MINUTE_MS;

export async function examine(deps: DoctorDeps): Promise<Finding[]> {
  const now = deps.clock.now();
  const database = await describeDatabase(deps.db);
  const askedAt = performance.now();
  const facts = await readDoctorFacts(deps.db, new Date(now.getTime() - UNSETTLED_MS));
  const responseMs = Math.round(performance.now() - askedAt);
  const clockMs = Math.abs(facts.now.getTime() - now.getTime());
  return [
    ok("database", `${database} is up to date and responded in ${responseMs} ms.`),
    ...(engineOf(deps.db) === "citus" ? [await examineCommits(deps)] : []),
    clockMs > CLOCK_DIFFERENCE_MAX_MS
      ? warning(
          "clock",
          `PostgreSQL's clock and this machine's differ by ${Math.round(clockMs / 1000)} s. Synchronise both with NTP.`,
        )
      : ok("clock", "PostgreSQL's clock and this machine's agree."),
    examineAddress(deps),
    deps.hasBrowserFiles
      ? ok("browser files", "The loader, the booking frame and the dashboard are built.")
      : fault("browser files", "dist/ is missing, so widgets and the dashboard can't be served. Run npm run build."),
    facts.users === 0
      ? warning(
          "people",
          "No one can sign in yet. Open the setup link that Bookflow prints when it starts, or run user create.",
        )
      : ok("people", `${facts.users} ${facts.users === 1 ? "person" : "people"} can sign in.`),
    await examineMail(deps),
    await examineQueue(deps),
    facts.failing_endpoints > 0
      ? warning("endpoints", `Failing endpoints: ${facts.failing_endpoints}. The delivery log shows why.`)
      : ok("endpoints", "No endpoint is failing."),
    facts.unsettled > 0
      ? fault(
          "bookings",
          `${facts.unsettled} ${facts.unsettled === 1 ? "booking" : "bookings"} without a result for several minutes. Check that a worker (ROLE=worker or all) is running and that the scheduling systems can be reached.`,
        )
      : ok("bookings", "All bookings have a result."),
  ];
}

async function examineCommits({ db }: DoctorDeps): Promise<Finding> {
  const addresses = await listLateCommitters(db);
  return addresses.length > 0
    ? fault("commits", describeLateCommitters(addresses))
    : ok("commits", "No reachable server has synchronous_commit = off.");
}

function examineAddress({ config }: DoctorDeps): Finding {
  const { protocol, hostname } = new URL(config.baseUrl);
  if (isLoopback(hostname) && !isLoopback(config.host))
    return warning(
      "address",
      `Other computers can reach Bookflow (HOST is ${config.host}), but its links point to ${config.baseUrl}. Set BASE_URL to the address visitors use, or HOST to localhost.`,
    );
  if (protocol === "https:" || isLoopback(hostname)) return ok("address", `Bookflow's address is ${config.baseUrl}.`);
  return warning(
    "address",
    `BASE_URL is ${config.baseUrl}, without https, so others on the network can read cookies and bookings. Put a proxy with TLS in front of Bookflow.`,
  );
}

async function examineMail({ mail }: DoctorDeps): Promise<Finding> {
  if (!mail.isOn)
    return warning(
      "mail",
      "SMTP_URL is not set, so nothing is emailed. Links to reset a password or sign up are written to the log, and inviters get the link to share.",
    );
  const problem = await mail.check();
  return problem === null ? ok("mail", "Signed in to the mail server.") : fault("mail", describeMailProblem(problem));
}

function describeMailProblem(code: string): string {
  return code === "EAUTH"
    ? "Can't sign in to the mail server (EAUTH). Check the user name and password in SMTP_URL."
    : `Can't reach the mail server (${code}). Check the host and port in SMTP_URL.`;
}

async function examineQueue(deps: DoctorDeps): Promise<Finding> {
  const measure = await observeQueue(deps);
  if (measure === null) return fault("deliveries", "The delivery queue can't be read.");
  const { waiting, in_flight: inFlight, overdue_seconds: overdue } = measure;
  return overdue > OVERDUE_SECONDS_MAX
    ? fault(
        "deliveries",
        `Deliveries are ${Math.round(overdue)} s overdue. Check that a worker (ROLE=worker or all) is running.`,
      )
    : ok(
        "deliveries",
        `${waiting} queued, ${inFlight} being sent, none more than ${OVERDUE_SECONDS_MAX / 60} minutes overdue.`,
      );
}

const ok = (check: string, message: string): Finding => ({ check, state: "ok", message });
const warning = (check: string, message: string): Finding => ({ check, state: "warning", message });
const fault = (check: string, message: string): Finding => ({ check, state: "fault", message });
