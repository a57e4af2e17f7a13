/** Whoever asked has closed the connection, so nobody waits for the answer. Work that can stop throws this. */
export class CallerLeft extends Error {
  constructor() {
    super("The caller has left");
  }
}
