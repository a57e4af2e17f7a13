import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { noAudit } from "../../../../test/support/app/no-audit.ts";
import { findFreePort } from "../../../../test/support/programs/free-port.ts";
import { until } from "../../../../test/support/until.ts";
import {
  book,
  createWebhookService,
  deliverAll,
  makeBusiness,
  makeEndpoint,
  readDelivery,
} from "../../../../test/support/webhooks/webhook-service.ts";
import { rotateSecret } from "../endpoints/endpoints.ts";
import { redeliver } from "../log/resend.ts";
import { signBody, signStandard, toUnixSeconds } from "./sign.ts";

// Runs the receivers from docs/webhooks.md against real deliveries and forgeries, in every language installed here.

const { deps, clock, loop } = await createWebhookService({ webhookTimeoutMs: 10_000 });
const FOLDER = fileURLToPath(new URL("../../../../docs/samples/webhooks/", import.meta.url));

type Sample = {
  name: string;
  program: string;
  args: (port: number) => string[];
  prints: "stdout" | "stderr";
  /** Builds the sample and returns the program to start instead. */
  build?: () => string;
};

const SAMPLES: readonly Sample[] = [
  { name: "TypeScript", program: process.execPath, args: () => ["receiver.ts"], prints: "stdout" },
  { name: "Python", program: "python3", args: () => ["receiver.py"], prints: "stdout" },
  { name: "PHP", program: "php", args: (port) => ["-S", `127.0.0.1:${port}`, "receiver.php"], prints: "stderr" },
  { name: "Go", program: "go", args: () => [], prints: "stdout", build: buildGo },
];

function buildGo(): string {
  const folder = mkdtempSync(join(tmpdir(), "bookflow-receiver-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const program = join(folder, "receiver");
  execFileSync("go", ["build", "-o", program, "receiver.go"], { cwd: FOLDER, stdio: ["ignore", "ignore", "inherit"] });
  return program;
}

function isThere(program: string): boolean {
  try {
    execFileSync(program, [program === "go" ? "version" : "--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** The response to a request with an invalid Content-Length; empty if the connection is closed without one. */
async function sendLength(port: number, length: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.end(`POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n`);
  return await text(socket);
}

async function startSample(sample: Sample, { secret, port }: { secret: string; port: number }) {
  const child: ChildProcess = spawn(sample.build?.() ?? sample.program, sample.args(port), {
    cwd: FOLDER,
    env: { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  after(() => child.kill("SIGKILL"));
  const printed = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream]?.setEncoding("utf8").on("data", (text: string) => {
      printed[stream] += text;
    });
  }
  const url = `http://127.0.0.1:${port}/`;
  await until(
    () =>
      fetch(url, { method: "POST", body: "{}" }).then(
        (reply) => reply.status === 400,
        () => false,
      ),
    `the ${sample.name} sample answers`,
  );
  return { url, countPrinted: (text: string) => printed[sample.prints].split(text).length - 1 };
}

for (const sample of SAMPLES) {
  test(`the ${sample.name} sample accepts what we sign, once, and nothing else`, {
    skip: !isThere(sample.program),
    // Go compiles its standard library the first time.
  }, async () => {
    const port = await findFreePort();
    const business = await makeBusiness(deps);
    const { id, secret } = await makeEndpoint(deps, business, { url: `http://127.0.0.1:${port}/hooks` });
    const { url, countPrinted } = await startSample(sample, { secret, port });

    clock.set(new Date());
    const reference = await book(deps, business, { customer_name: "Zoë Quell 🦷" });
    await deliverAll(loop);
    const delivery = await readDelivery(deps, business.owner);
    assert.deepEqual([delivery.state, delivery.last_status], ["delivered", 204]);
    await until(() => countPrinted(reference) === 1, "it is printed");

    await rotateSecret(deps, business.owner, { id, overlapHours: 24 }, noAudit);
    clock.set(new Date());
    await redeliver(deps, business.owner, delivery.id, noAudit);
    await deliverAll(loop);
    const again = await readDelivery(deps, business.owner);
    assert.deepEqual([again.attempt_count, again.last_status], [2, 204], "the old secret verifies during the overlap");
    if (sample.name !== "PHP") assert.equal(countPrinted(reference), 1, "an event that comes again is handled once");

    const body = Buffer.from('{"id":"evt_1","type":"booking.created","data":{"booking":{"reference":"SVC-FORGED"}}}');
    const sign = (options: { key?: string; ageSeconds?: number; of?: Buffer }) =>
      signBody({
        secrets: [options.key ?? secret],
        body: options.of ?? body,
        at: new Date(Date.now() - (options.ageSeconds ?? 0) * 1_000),
      });
    const good = sign({});
    const forgeries: Record<string, string | null> = {
      "no signature": null,
      "an empty signature": "",
      "another secret": sign({ key: `${secret}x` }),
      "another body": sign({ of: Buffer.from("{}") }),
      "an old timestamp": sign({ ageSeconds: 310 }),
      "a timestamp of the future": sign({ ageSeconds: -310 }),
      "a timestamp put in later": good.replace(/^t=\d+/, `t=${Math.floor(Date.now() / 1_000) - 20}`),
      "no timestamp": good.replace(/^t=\d+,/, ""),
      "a shortened signature": good.slice(0, -1),
      "no v1": good.replace("v1=", "v0="),
    };
    for (const [what, signature] of Object.entries(forgeries)) {
      const headers = signature === null ? {} : { "Service-Signature": signature };
      assert.equal((await fetch(url, { method: "POST", body, headers })).status, 400, what);
    }
    // The same with the headers of Standard Webhooks alone.
    const standard = (forged: { key?: string; ageSeconds?: number; of?: Buffer; id?: string }) => {
      const at = new Date(Date.now() - (forged.ageSeconds ?? 0) * 1_000);
      const key = forged.key ?? secret;
      return {
        "webhook-id": forged.id ?? "evt_1",
        "webhook-timestamp": String(toUnixSeconds(at)),
        "webhook-signature": signStandard({ secrets: [key], eventId: "evt_1", body: forged.of ?? body, at }),
      };
    };
    const other = `whsec_${Buffer.alloc(33, 7).toString("base64")}`;
    for (const [what, headers] of Object.entries({
      "another secret": standard({ key: other }),
      "another body": standard({ of: Buffer.from("{}") }),
      "another id": standard({ id: "evt_2" }),
      "an old timestamp": standard({ ageSeconds: 310 }),
      "a shortened signature": { ...standard({}), "webhook-signature": standard({})["webhook-signature"].slice(0, -2) },
      "a forged contract's signature beside it": { ...standard({}), "Service-Signature": sign({ key: `${secret}x` }) },
    }))
      assert.equal((await fetch(url, { method: "POST", body, headers })).status, 400, `standard: ${what}`);
    assert.equal((await fetch(url, { method: "POST", body, headers: standard({}) })).status, 204, "standard");
    // PHP's own server closes such a connection before the sample runs.
    const refusal = sample.name === "PHP" ? /^$/ : /^HTTP\/1\.[01] 4\d\d /;
    for (const length of ["-1", "many"]) assert.match(await sendLength(port, length), refusal, length);
    for (const ageSeconds of [0, 290, -290]) {
      const headers = { "Service-Signature": sign({ ageSeconds }) };
      assert.equal((await fetch(url, { method: "POST", body, headers })).status, 204, `${ageSeconds} s`);
    }
  });
}

test("our signature matches the published test vector", () => {
  const signature = signBody({
    secrets: ["whsec_test_secret"],
    body: Buffer.from('{"id":"evt_0"}'),
    at: new Date(1_700_000_000_000),
  });
  assert.equal(signature, "t=1700000000,v1=72037e86def453cf6a64018f6cf1777244901dd1b7431177c7374ccb54040b54");
});
