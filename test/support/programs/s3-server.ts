import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { CreateBucketCommand, GetObjectCommand, paginateListObjectsV2, S3Client } from "@aws-sdk/client-s3";

// Storage that speaks S3, on this machine. It checks signatures.

type Server = { run(): Promise<{ port: number }>; close(): Promise<void> };
type Options = { port: number; address: string; silent: boolean; directory: string };
type Signed = { uri: string };
type Signing = { getStringToSign: (request: Signed, signature: unknown) => string };

// It has no types.
const require = createRequire(import.meta.url);
const S3rver = require("@20minutes/s3rver") as new (options: Options) => Server;

// The AWS library signs the address of a bucket with a slash at its end, which this server leaves out.
const signing = require("@20minutes/s3rver/lib/signature/v4.js") as Signing;
const { getStringToSign } = signing;
signing.getStringToSign = (request, signature) => {
  const isOfBucket = /^\/[^/]+$/.test(request.uri);
  return getStringToSign(isOfBucket ? { ...request, uri: `${request.uri}/` } : request, signature);
};

/** The only ones that it accepts. */
const KEY = "S3RVER";

export type S3Server = {
  endpoint: string;
  /** What the AWS library reads. */
  environment: Record<string, string>;
  /** Where it keeps its buckets. */
  directory: string;
  makeBucket(name: string): Promise<void>;
  /** The texts of all objects, by key. */
  read(bucket: string): Promise<Record<string, string>>;
};

export async function startS3Server(): Promise<S3Server> {
  const directory = mkdtempSync(join(tmpdir(), "bookflow-s3-"));
  const server = new S3rver({ port: 0, address: "127.0.0.1", silent: true, directory });
  const { port } = await server.run();
  const endpoint = `http://127.0.0.1:${port}`;
  const client = new S3Client({
    endpoint,
    region: "us-east-1",
    forcePathStyle: true,
    credentials: { accessKeyId: KEY, secretAccessKey: KEY },
  });
  after(async () => {
    client.destroy();
    await server.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return {
    endpoint,
    environment: { AWS_ACCESS_KEY_ID: KEY, AWS_SECRET_ACCESS_KEY: KEY, AWS_REGION: "us-east-1" },
    directory,
    async makeBucket(Bucket) {
      await client.send(new CreateBucketCommand({ Bucket }));
    },
    async read(Bucket) {
      const texts: Record<string, string> = {};
      for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket }))
        for (const { Key = "" } of Contents) {
          const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
          texts[Key] = (await Body?.transformToString()) ?? "";
        }
      return texts;
    },
  };
}
