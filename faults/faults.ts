import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { SCHEDULER_LIMITS } from "../src/server/scheduler/limit-system.ts";
import type { TimedResponse } from "./load.ts";
import type { SeededRandom } from "./random.ts";
import type { ReceiverMode } from "./receiver.ts";
import type { Service } from "./service.ts";
import { countFreeBytes, listServerPids, readPostmasterPid, type World } from "./world.ts";

export type Fault = {
  readonly name: string;
  /** Causes the fault, which lasts a few seconds and is over when this resolves. Returns what exactly happened. */
  readonly happen: (world: World, random: SeededRandom) => Promise<string>;
  /** How much of a response's time the fault itself causes. */
  readonly excuseMs?: (response: TimedResponse) => number;
};

const RECEIVER_MODES: readonly ReceiverMode[] = ["hangs", "resets", "fails", "breaks off", "babbles"];
const SCHEDULER_ROUTES = ["GET /event-types", "GET /slots", "POST /bookings", "GET /bookings"];

/** PostgreSQL can take some space between checking and filling, and uses up the rest by itself. */
const SLACK_BYTES = 1_000_000;

const LASTING_MS_MAX = 4_500;
const lastingMs = (random: SeededRandom) => random.between(800, LASTING_MS_MAX);

const SLOWEST_DELAY_MS = 250;
/** Round trips to the database. */
const [TRIPS_OF_BOOKING, TRIPS_OF_OTHERS] = [40, 10];
const isBooking = ({ route }: TimedResponse) => route === "POST /embed-api/{widget}/bookings";
/** Booking, looking the reference up, and a repeated request that waits for the first one. */
const EXTERNAL_BOOKING_MS = 50_000;
/** A repeated request waits for the first one, which the killed process may have been about to send. */
const KILLED_BOOKING_MS = 30_000;
const excuseKill = (response: TimedResponse) => (response.isExternal && isBooking(response) ? KILLED_BOOKING_MS : 0);

export const FAULTS: readonly Fault[] = [
  {
    name: "PostgreSQL stopped (SIGSTOP)",
    async happen(world, random) {
      const pids = listServerPids(world);
      return await during(lastingMs(random), {
        begin: () => signalAll(pids, "SIGSTOP"),
        end: () => signalAll(pids, "SIGCONT"),
      });
    },
  },
  {
    name: "PostgreSQL killed (SIGKILL)",
    async happen(world) {
      const killed = readPostmasterPid(world);
      process.kill(killed, "SIGKILL");
      while ([killed, Number.NaN].includes(readPostmasterPid(world))) await sleep(20);
      return "started again by its supervisor";
    },
  },
  {
    name: "a connection's backend killed",
    async happen(world, random) {
      const client = new pg.Client({ connectionString: world.databaseUrl });
      await client.connect();
      const { rows } = await client
        .query<{ pid: number }>(
          "select pid from pg_stat_activity where application_name = 'bookflow' and backend_type = 'client backend'",
        )
        .finally(() => client.end());
      const { pid } = random.pick(rows);
      signalAll([pid], "SIGKILL");
      return "every connection lost, recovery";
    },
  },
  {
    name: "web process stopped (SIGSTOP)",
    excuseMs: () => LASTING_MS_MAX,
    happen: (world, random) => stopForAWhile(random.pick(world.webs), random),
  },
  {
    name: "worker process stopped (SIGSTOP)",
    happen: (world, random) => stopForAWhile(random.pick(world.workers), random),
  },
  {
    name: "web process killed (SIGKILL)",
    excuseMs: excuseKill,
    happen: (world, random) => endAndRestart(random.pick(world.webs), "SIGKILL"),
  },
  {
    name: "worker process killed (SIGKILL)",
    happen: (world, random) => endAndRestart(random.pick(world.workers), "SIGKILL"),
  },
  { name: "web process ended (SIGTERM)", happen: (world, random) => endAndRestart(random.pick(world.webs), "SIGTERM") },
  {
    name: "worker process ended (SIGTERM)",
    happen: (world, random) => endAndRestart(random.pick(world.workers), "SIGTERM"),
  },
  {
    name: "every process killed (SIGKILL)",
    excuseMs: excuseKill,
    async happen({ webs, workers }) {
      await Promise.all([...webs, ...workers].map((service) => endAndRestart(service, "SIGKILL")));
      return "and started again";
    },
  },
  {
    name: "disk full",
    async happen(world, random) {
      if (!world.hasOwnDisk) return "skipped: mounting a disk requires root";
      const ballast = join(world.dataDir, "ballast");
      return await during(lastingMs(random), {
        begin: () => execFileSync("fallocate", ["-l", String(countFreeBytes(world) - SLACK_BYTES), ballast]),
        end: () => rmSync(ballast, { force: true }),
      });
    },
  },
  {
    name: "connections exhausted",
    async happen(world, random) {
      const held: pg.Client[] = [];
      return await during(lastingMs(random), {
        async begin() {
          for (;;) {
            const client = new pg.Client({ connectionString: world.databaseUrl });
            client.on("error", () => undefined);
            try {
              await client.connect();
            } catch {
              return;
            }
            held.push(client);
          }
        },
        end: () => Promise.all(held.map((client) => client.end())),
      });
    },
  },
  {
    name: "slow network to the database",
    excuseMs: (response) => 2 * SLOWEST_DELAY_MS * (isBooking(response) ? TRIPS_OF_BOOKING : TRIPS_OF_OTHERS),
    async happen({ proxy }, random) {
      const delayMs = random.between(20, SLOWEST_DELAY_MS);
      return await during(lastingMs(random), {
        begin: () => {
          proxy.delayMs = delayMs;
        },
        end: () => {
          proxy.delayMs = 0;
        },
      });
    },
  },
  {
    name: "database connections reset",
    async happen({ proxy }, random) {
      const times = random.between(1, 5);
      for (let n = 0; n < times; n++) {
        proxy.resetAll();
        await sleep(random.between(50, 600));
      }
      return `${times} times`;
    },
  },
  {
    name: "silent network to the database",
    async happen({ proxy }, random) {
      return await during(random.between(2_000, 5_000), {
        begin: () => {
          proxy.isSilent = true;
        },
        end: () => {
          proxy.isSilent = false;
          proxy.resetAll();
        },
      });
    },
  },
  {
    name: "clock step",
    async happen({ clockFile }, random) {
      const shiftMs = random.between(2_000, 15_000) * random.pick([-1, 1]);
      const lasting = await during(lastingMs(random), {
        begin: () => writeFileSync(clockFile, String(shiftMs)),
        end: () => writeFileSync(clockFile, "0"),
      });
      return `${shiftMs} ms, ${lasting}`;
    },
  },
  {
    name: "bad webhook receiver",
    async happen({ receiver }, random) {
      const mode = random.pick(RECEIVER_MODES);
      const lasting = await during(lastingMs(random), {
        begin: () => {
          receiver.mode = mode;
        },
        end: () => {
          receiver.mode = "well";
        },
      });
      return `${mode}, ${lasting}`;
    },
  },
  {
    name: "bad scheduling system",
    excuseMs: (response) =>
      !response.isExternal ? 0 : isBooking(response) ? EXTERNAL_BOOKING_MS : SCHEDULER_LIMITS.readMs,
    async happen({ calcom }, random) {
      const kind = random.pick(["hang", "reset", "lie", "fail", "book and reset"] as const);
      const reply = { hang: "hang", reset: "reset", "book and reset": "reset" } as const;
      const injection =
        kind === "lie"
          ? { reply: { status: 200, json: { status: "success", data: "nothing that was asked for" } } }
          : kind === "fail"
            ? { reply: { status: 500, text: "no" } }
            : { reply: reply[kind], creates: kind === "book and reset" };
      for (const route of SCHEDULER_ROUTES) calcom.injectFault(route, injection, injection, injection);
      await sleep(lastingMs(random));
      calcom.stopFaults();
      return `the next three responses of each kind: ${kind}`;
    },
  },
];

async function during(lastsMs: number, { begin, end }: { begin: () => unknown; end: () => unknown }): Promise<string> {
  try {
    await begin();
    await sleep(lastsMs);
  } finally {
    await end();
  }
  return `${lastsMs} ms`;
}

async function stopForAWhile(service: Service, random: SeededRandom): Promise<string> {
  const lasting = await during(lastingMs(random), {
    begin: () => service.signal("SIGSTOP"),
    end: () => service.signal("SIGCONT"),
  });
  return `${service.name}, ${lasting}`;
}

async function endAndRestart(service: Service, signal: "SIGKILL" | "SIGTERM"): Promise<string> {
  const end = await service.end(signal);
  if (signal === "SIGTERM" && end !== "0") throw new Error(`${service.name} ended with ${end} on SIGTERM`);
  await service.start();
  return service.name;
}

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      // A PostgreSQL process may have ended meanwhile.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}
