// We are guests in the page, so our errors never reach it or its console.

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
