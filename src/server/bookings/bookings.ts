// What other slices use of bookings.

export { listChanges, listChangesOf, lockForChange, recordChange, updateBooking } from "./changes/change-queries.ts";
export { followAppointment } from "./changes/follow-appointments.ts";
export { observeBookings } from "./flow/observe-bookings.ts";
export { importBookings } from "./import/import-bookings.ts";
export { deleteExpiredDeletions, listDeletions } from "./stored/erase/deletion-queries.ts";
export { deleteExpiredBookings, deleteTestBookings } from "./stored/erase/erase.ts";
export { readerOf } from "./stored/list/app-filter.ts";
export { type AppBookingFilter, findBooking, listBookings } from "./stored/list/app-queries.ts";
export { NEWEST_FIRST, selectInOrder } from "./stored/list/list-queries.ts";
export { readBookingPage } from "./stored/list/read-page.ts";
export { toBookingSummary } from "./stored/list/to-app-booking.ts";
export { findBookingOwner } from "./stored/queries.ts";
export { readSources } from "./stored/source-queries.ts";
export { toImportable } from "./stored/to-api-json.ts";
