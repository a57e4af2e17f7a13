import type { FastifyRequest } from "fastify";
import { ApiError } from "../http/api-error.ts";
import { toClientNetwork } from "../http/client-network.ts";
import { openSchedulingSystem, type SchedulingWidget } from "./open-system.ts";
import { isFromThisComputer } from "./practice/this-computer.ts";
import type { OpenDeps } from "./scheduler-deps.ts";
import type { SchedulingSystem } from "./scheduling-system.ts";

/**
 * The system that a visitor books in. One network can cause only so many reads of free times, so that it cannot use up the
 * account's requests. The practice Cal.com is only for people at this computer.
 */
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
  const { readsByNetwork } = deps.scheduler;
  if (readsByNetwork === null) return system;
  const mayAsk = () => readsByNetwork.take(toClientNetwork(request.ip), deps.clock.now()).isAllowed;
  return { ...system, listSlots: (query, signal) => system.listSlots({ ...query, mayAsk }, signal) };
}
