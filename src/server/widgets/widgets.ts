// What other slices use of widgets.

export { changeWidget, listWidgetsWithViews, lockWidget } from "./app-queries.ts";
export { type BookableWidget, findBookableWidget, holdSwitches, requireBookableWidget } from "./bookable-widget.ts";
export { limitWidgetRoute } from "./limited-widget.ts";
export { applyOffer, limitSlots, toOfferedStaff } from "./offer.ts";
export { findWidgetOwner, insertWidget, listWidgets, readWidgetNames, requireWidget } from "./queries.ts";
export { toAppWidget } from "./to-app-widget.ts";
export { directPageUrl, readWidgets } from "./to-widget.ts";
