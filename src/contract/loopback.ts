const LOOPBACK = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|::1|\[::1\])$/;

/** Whether a host can be reached only from the computer it runs on. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}
