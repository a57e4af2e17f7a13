import Fastify from "fastify";
import { CollectRequest } from "#contract/widgets/embed-api.ts";

// The baseline for event collection: the framework, one route, the same validation and the same response.

const app = Fastify({ logger: false });
app.post("/embed-api/:widget/events", { schema: { body: CollectRequest } }, async (_request, reply) =>
  reply.code(204).send(),
);
app.get("/readyz", async () => ({ status: "ready" }));
await app.listen({ host: "127.0.0.1", port: Number(process.env["PORT"]) });
process.once("SIGTERM", () => process.exit(0));
