import type { FastifyRequest } from "fastify";
import { toClientNetwork } from "../http/client-network.ts";
import { openSchedulingSystem, type SchedulingWidget } from "./open-system.ts";
import type { OpenDeps } from "./scheduler-deps.ts";
import type { SchedulingSystem } from "./scheduling-system.ts";

/** One network can cause only so many reads of available times, so that it can't use up the account's requests. */
export async function openForVisitor(
  deps: OpenDeps,
  request: FastifyRequest,
  widget: SchedulingWidget,
): Promise<SchedulingSystem> {
  const system = await openSchedulingSystem(deps, widget);
  const { readsByNetwork } = deps.scheduler;
  if (readsByNetwork === null) return system;
  const mayAsk = () => readsByNetwork.take(toClientNetwork(request.ip), deps.clock.now()).isAllowed;
  return { ...system, listSlots: (query, signal) => system.listSlots({ ...query, mayAsk }, signal) };
}
