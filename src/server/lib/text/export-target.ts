/** Where an export goes: a folder, or a bucket with the beginning of its keys, which is empty or ends in "/". */
type ExportTarget = { kind: "folder"; path: string } | { kind: "bucket"; bucket: string; prefix: string };

/** Null if it is neither a path nor `s3://BUCKET/PREFIX`. */
export function parseExportTarget(text: string): ExportTarget | null {
  if (text.trim() === "") return null;
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return { kind: "folder", path: text };
  const [, bucket, path = ""] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(text) ?? [];
  if (bucket === undefined) return null;
  const prefix = path.split("/").filter(Boolean).join("/");
  return { kind: "bucket", bucket, prefix: prefix === "" ? "" : `${prefix}/` };
}
