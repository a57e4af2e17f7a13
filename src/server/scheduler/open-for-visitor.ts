import type { FastifyRequest } from "fastify";
import { ApiError } from "../http/api-error.ts";
import { openSchedulingSystem, type SchedulingWidget } from "./open-system.ts";
import { isFromThisComputer } from "./practice/this-computer.ts";
import type { OpenDeps } from "./scheduler-deps.ts";
import type { SchedulingSystem } from "./scheduling-system.ts";

/** The system that a visitor books in. The practice Cal.com is only for people at this computer. */
export async function openForVisitor(
  deps: OpenDeps,
  request: FastifyRequest,
  widget: SchedulingWidget,
): Promise<SchedulingSystem> {
  const system = await openSchedulingSystem(deps, widget);
  if (system.mode === "practice" && !isFromThisComputer(request))
    throw new ApiError(
      "scheduler_unavailable",
      "The practice Cal.com can be used only on the computer that runs Bookflow.",
    );
  return system;
}
