type Parameter = { in?: string; name?: string; required?: boolean; schema?: { enum?: unknown[] } };
type Operation = { parameters?: readonly Parameter[] };
type Paths = Readonly<Record<string, { get?: Operation }>>;

/** Examples that can be pasted: this server's address, no optional parameters, the key from the environment. */
export function addCodeSamples<Document extends { paths?: object }>(document: Document, baseUrl: string): Document {
  // OpenAPI's paths, as written by @fastify/swagger.
  const paths = Object.entries((document.paths ?? {}) as Paths).map(([path, { get, ...rest }]) => {
    const samples =
      path.includes("{") || !get ? {} : { "x-codeSamples": listSamples(`${baseUrl}${path}${toQuery(get)}`) };
    return [path, { ...(get && { get: { ...get, ...samples } }), ...rest }];
  });
  return { ...document, paths: Object.fromEntries(paths) };
}

function toQuery({ parameters = [] }: Operation): string {
  const required = parameters.filter((each) => each.in === "query" && each.required);
  const pairs = required.map(({ name = "", schema }) => [name, String(schema?.enum?.[0] ?? "")]);
  return pairs.length > 0 ? `?${new URLSearchParams(pairs)}` : "";
}

function listSamples(url: string) {
  return [
    { lang: "shell", label: "curl", source: `curl -s "${url}" \\\n  -H "Authorization: Bearer $KEY"` },
    {
      lang: "javascript",
      label: "JavaScript",
      source: `const response = await fetch("${url}", {
  headers: { authorization: \`Bearer \${process.env.KEY}\` },
});
console.log(await response.json());`,
    },
  ];
}
