/**
 * What may be here already: most requests are answered without waiting for anything, and then each `await` on the way
 * would be a turn through the queue of microtasks for nothing.
 */
export type Eventually<T> = T | Promise<T>

/** Goes on with a value, at once where it is here. */
export function andThen<T, Next>(value: Eventually<T>, step: (value: T) => Eventually<Next>): Eventually<Next> {
  return value instanceof Promise ? value.then(step) : step(value)
}

/** What `attempt` makes, or what `recover` makes of its failure, whether that comes at once or later. */
export function orElse<T>(attempt: () => Eventually<T>, recover: (error: unknown) => Eventually<T>): Eventually<T> {
  try {
    const value = attempt()
    return value instanceof Promise ? value.catch(recover) : value
  } catch (error) {
    return recover(error)
  }
}
