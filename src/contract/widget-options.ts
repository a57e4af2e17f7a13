import { type Static, Type } from "typebox";
import { LANGUAGES } from "./languages.ts";
import { CORNER_RADIUS_MAX, HOUR_CYCLES } from "./widget-looks.ts";

// Optional settings of a widget. Null is the default everywhere.

const nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);
const oneOf = <Word extends string>(words: readonly Word[]) => Type.Unsafe<Word>(Type.Enum([...words]));

export const WidgetOptions = Type.Object({
  /** Shows the organization's logo beside the business name. */
  showsLogo: Type.Boolean(),
  /** In pixels; null: the template's. */
  cornerRadius: nullable(Type.Integer({ minimum: 0, maximum: CORNER_RADIUS_MAX })),
  /** PAGE_FONT or the name of a font; null: the system's. */
  fontFamily: nullable(Type.String()),
  /** Null: the page's or the visitor's. */
  language: nullable(oneOf(LANGUAGES)),
  /** Null: as usual in the visitor's language. */
  hourCycle: nullable(oneOf(HOUR_CYCLES)),
  /** For appointments in person: their times are in the business's time zone, and visitors can't choose another. */
  locksTimeZone: Type.Boolean(),
  /** On the floating button; null: "Book an appointment" in the visitor's language. */
  buttonLabel: nullable(Type.String()),
  /** Opens after a booking, with `reference` in its query; null: the confirmation is shown. */
  thankYouUrl: nullable(Type.String()),
  privacyUrl: nullable(Type.String()),
});
export type WidgetOptions = Static<typeof WidgetOptions>;

export const NO_OPTIONS: WidgetOptions = {
  showsLogo: true,
  cornerRadius: null,
  fontFamily: null,
  language: null,
  hourCycle: null,
  locksTimeZone: false,
  buttonLabel: null,
  thankYouUrl: null,
  privacyUrl: null,
};

/** An ID of a scheduling system. */
const Id = Type.String({ maxLength: 500, pattern: "^[^\\u0000-\\u001f\\u007f]+$" });

/** The services that a widget offers, in this order; `staffIds` null: everybody. */
export const Offer = Type.Array(Type.Object({ serviceId: Id, staffIds: nullable(Type.Array(Id, { maxItems: 200 })) }), {
  maxItems: 200,
});
export type Offer = Static<typeof Offer>;
