import assert from "node:assert/strict";
import { test } from "node:test";
import Fastify from "fastify";
import { toTrustProxy } from "./client-network.ts";

/** The visitor's address, as a service behind these proxies sees it; the connection itself comes from 127.0.0.1. */
async function seenAddress(setting: false | number | string[], forwardedFor: string): Promise<string> {
  const app = Fastify({ trustProxy: toTrustProxy(setting) });
  app.get("/", async (request) => request.ip);
  return (await app.inject({ url: "/", headers: { "x-forwarded-for": forwardedFor } })).body;
}

for (const [setting, forwardedFor, seen] of [
  [false, "198.51.100.1", "127.0.0.1"],
  [1, "198.51.100.1", "198.51.100.1"],
  [1, "198.51.100.9, 198.51.100.1", "198.51.100.1"],
  [2, "198.51.100.9, 198.51.100.1", "198.51.100.9"],
  [2, "198.51.100.8, 198.51.100.9, 198.51.100.1", "198.51.100.9"],
  [["127.0.0.0/8"], "198.51.100.9, 198.51.100.1", "198.51.100.1"],
  [["127.0.0.0/8", "198.51.100.1"], "198.51.100.9, 198.51.100.1", "198.51.100.9"],
  [["10.0.0.0/8"], "198.51.100.1", "127.0.0.1"],
] as const)
  test(`trusting ${JSON.stringify(setting)}, a request through ${forwardedFor} comes from ${seen}`, async () =>
    assert.equal(
      await seenAddress(Array.isArray(setting) ? [...setting] : (setting as false | number), forwardedFor),
      seen,
    ));
