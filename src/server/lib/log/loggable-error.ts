/** Text that stands in the code word for word. A `string`, or a template with one, could hold what a visitor entered: it becomes `never`. */
export type FixedText<T extends string> = Record<never, 1> extends Record<T, 1> ? never : T;

/** An error whose message is safe to log, because only fixed text can be its message. Of other errors, the message is left out. */
export class LoggableError<const T extends string = never> extends Error {
  /** `count` says how many there are, after the message. */
  constructor(message: FixedText<T>, { count, ...options }: ErrorOptions & { count?: number } = {}) {
    super(count === undefined ? message : `${message}: ${count}`, options);
  }
}
