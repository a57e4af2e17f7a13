// What other slices use of scheduler.

export { CHECK_DAYS } from "./check/check-connection.ts";
export { describeFailure } from "./connections/describe-failure.ts";
export {
  findConnectionOwner,
  holdConnection,
  listBookingPages,
  listConnections,
} from "./connections/queries.ts";
export type { SchedulerLimits } from "./limit-system.ts";
export { openNotice } from "./notices/open-notice.ts";
export { openConnection, openForVisitor, openSchedulingSystem } from "./open-system.ts";
export { toCellKey, toCells, toResources } from "./sandbox/free-times.ts";
export { makeLinkSecret, toJoinUrl, toManageUrl } from "./sandbox/links.ts";
export { deleteEndedAppointments, insertAppointment, insertSandbox } from "./sandbox/queries.ts";
export { FIRST_VISIT_QUESTIONS, type SandboxService, type SandboxSetup, type SandboxStaff } from "./sandbox/setup.ts";
export type { OpenDeps, SchedulerDeps } from "./scheduler-deps.ts";
export {
  type Booked,
  type BookOutcome,
  type Failure,
  type Followed,
  found,
  type KnownAppointment,
  type Lookup,
  type OfferedService,
  type Read,
  type SchedulingSystem,
  type Slot,
  type SlotQuery,
  toFreeSlot,
} from "./scheduling-system.ts";
export { toOpenIntervals, toStartTimes, type WeeklyHours } from "./weekly-hours.ts";
