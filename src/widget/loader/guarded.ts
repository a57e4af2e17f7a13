// The loader is a guest in the page: its errors never reach the page or the console.

export function attempt<Result>(run: () => Result): Result | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

export function guarded<Arguments extends unknown[]>(
  run: (...given: Arguments) => void,
): (...given: Arguments) => void {
  return (...given) => attempt(() => run(...given));
}
