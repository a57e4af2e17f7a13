import type { S3Client } from "@aws-sdk/client-s3";
import { MINUTE_MS, SECOND_MS } from "#contract/durations.ts";
import type { NamedTarget } from "./target.ts";

/** Parts of a large file; S3 requires at least 5 MiB. Memory holds two. */
const PART_BYTES = 8 * 2 ** 20;

type Address = { bucket: string; prefix: string };
type Sdk = typeof import("@aws-sdk/client-s3");
type Bucket = Address & { sdk: Sdk; client: S3Client };

/**
 * Objects appear once they are complete. Credentials, region and the address of other storage than Amazon's come from where the
 * library looks for them: the AWS_… variables, a profile, or the machine's role.
 */
export async function openBucket(address: Address): Promise<NamedTarget> {
  // Loading it takes a tenth of a second and 20 MB, so it is loaded only where it is used.
  const sdk = await import("@aws-sdk/client-s3");
  const { bucket, prefix } = address;
  const client = new sdk.S3Client({
    // Works everywhere: few compatible systems have an address per bucket.
    forcePathStyle: true,
    // Checksums that only some of the compatible systems know are sent only where S3 requires them.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: { connectionTimeout: 5 * SECOND_MS, requestTimeout: MINUTE_MS, throwOnRequestTimeout: true },
  });
  const opened = { ...address, sdk, client };
  return {
    name: `the bucket ${bucket}`,
    list: async (folder) => await listObjects(opened, `${prefix}${folder}/`),
    write: async (path, texts) => await writeObject(opened, `${prefix}${path}`, texts),
    describe: ({ name, message, code }: Error & { code?: string }) =>
      [code ?? name, message].filter((text) => text !== "" && text !== "Error").join(": "),
  };
}

async function listObjects({ sdk, client, bucket }: Bucket, prefix: string): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  for await (const page of sdk.paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: prefix }))
    for (const { Key } of page.Contents ?? []) if (Key) names.add(Key.slice(prefix.length));
  return names;
}

async function writeObject(to: Bucket, key: string, texts: AsyncIterable<string>): Promise<boolean> {
  const { sdk, client } = to;
  const object = { Bucket: to.bucket, Key: key };
  const parts = toParts(texts);
  const { value: first } = await parts.next();
  if (!first) return false;
  const { value: second } = await parts.next();
  const file = { ...object, ContentType: "application/x-ndjson" };
  if (!second) {
    await client.send(new sdk.PutObjectCommand({ ...file, Body: first }));
    return true;
  }
  const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand(file));
  const upload = { ...object, UploadId };
  const sent: { PartNumber: number; ETag: string | undefined }[] = [];
  const send = async (Body: Buffer) => {
    const PartNumber = sent.length + 1;
    const { ETag } = await client.send(new sdk.UploadPartCommand({ ...upload, PartNumber, Body }));
    sent.push({ PartNumber, ETag });
  };
  try {
    await send(first);
    await send(second);
    for await (const part of parts) await send(part);
    await client.send(new sdk.CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts: sent } }));
  } catch (error) {
    // If this fails too, the first error is the one to report.
    await client.send(new sdk.AbortMultipartUploadCommand(upload)).catch(() => {});
    throw error;
  }
  return true;
}

async function* toParts(texts: AsyncIterable<string>): AsyncGenerator<Buffer, undefined> {
  let [pieces, bytes]: [Buffer[], number] = [[], 0];
  for await (const text of texts) {
    const piece = Buffer.from(text);
    pieces.push(piece);
    bytes += piece.length;
    if (bytes < PART_BYTES) continue;
    yield Buffer.concat(pieces);
    [pieces, bytes] = [[], 0];
  }
  if (bytes > 0) yield Buffer.concat(pieces);
}
