export type Loss = {
  count: number;
  /** All views or attempts, lost or not. */
  of: number;
  unit: "views" | "attempts";
};

const NONE_LOST = {
  views: "Every visitor who looked found an available time.",
  attempts: "Every booking went through.",
};
const NONE_COUNTED = {
  views: "No views in this period.",
  attempts: "No booking attempts in this period.",
};

/** Null if something was lost. With no views or attempts, nothing could be lost, so it isn't reported as a success. */
export function describeNoLoss({ count, of, unit }: Loss): { isSuccess: boolean; text: string } | null {
  if (count > 0) return null;
  return of > 0 ? { isSuccess: true, text: NONE_LOST[unit] } : { isSuccess: false, text: NONE_COUNTED[unit] };
}
