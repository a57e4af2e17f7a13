/** `google-retractions`: cancelled bookings that were exported for Google Ads before. */
export const AD_PLATFORMS = ["google", "google-retractions", "microsoft", "meta"] as const;
export type AdPlatform = (typeof AD_PLATFORMS)[number];

/** Google Ads and Microsoft Advertising allow 100 characters. */
export const CONVERSION_NAME_LENGTH_MAX = 100;

/** `Schedule` is what Meta calls the booking of an appointment. */
export const CONVERSION_NAME_DEFAULTS: Readonly<Record<AdPlatform, string>> = {
  google: "Booking",
  // Each retraction has the name that its booking was exported with.
  "google-retractions": "Booking",
  microsoft: "Booking",
  meta: "Schedule",
};
