// What other slices use of bookings.

export { listChanges, listChangesOf, lockForChange, recordChange, updateBooking } from "./changes/change-queries.ts";
export { followAppointment } from "./changes/follow-appointments.ts";
export { observeBookings } from "./flow/observe-bookings.ts";
export { importBookings } from "./import/import-bookings.ts";
export { readerOf } from "./stored/app-filter.ts";
export { type AppBookingFilter, findBooking, listBookings } from "./stored/app-queries.ts";
export { deleteExpiredDeletions, listDeletions } from "./stored/deletion-queries.ts";
export { deleteExpiredBookings, deleteTestBookings } from "./stored/erase.ts";
export { NEWEST_FIRST, selectInOrder } from "./stored/list-queries.ts";
export { findBookingOwner } from "./stored/queries.ts";
export { readBookingPage } from "./stored/read-page.ts";
export { readSources } from "./stored/source-queries.ts";
export { toImportable } from "./stored/to-api-json.ts";
export { toBookingSummary } from "./stored/to-app-booking.ts";
