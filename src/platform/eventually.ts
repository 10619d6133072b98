/**
 * A value, or a promise of it. Most requests are answered without waiting, and each `await` of an available value would
 * cost a turn of the microtask queue.
 */
export type Eventually<T> = T | Promise<T>

/** Calls `step` with the value: immediately if it is available, otherwise when the promise resolves. */
export function andThen<T, Next>(value: Eventually<T>, step: (value: T) => Eventually<Next>): Eventually<Next> {
  return value instanceof Promise ? value.then(step) : step(value)
}

/** The result of `attempt`, or of `recover` if `attempt` throws or rejects. */
export function orElse<T>(attempt: () => Eventually<T>, recover: (error: unknown) => Eventually<T>): Eventually<T> {
  try {
    const value = attempt()
    return value instanceof Promise ? value.catch(recover) : value
  } catch (error) {
    return recover(error)
  }
}
