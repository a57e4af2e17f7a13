// What other slices use of widgets.

export { changeWidget, listWidgetsWithViews, lockWidget } from "./app-queries.ts";
export {
  limitWidgetRoute,
  requireBookableWidget,
} from "./bookable-widget.ts";
export { applyOffer, limitSlots, toOfferedStaff } from "./offer.ts";
export {
  type BookableWidget,
  findBookableWidget,
  findWidgetOwner,
  holdSwitches,
  insertWidget,
  listWidgets,
  readWidgetNames,
  requireWidget,
} from "./queries.ts";
export { directPageUrl, readWidgets, toAppWidget } from "./to-widget.ts";
