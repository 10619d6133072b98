import { AsyncLocalStorage } from 'node:async_hooks'

const acting = new AsyncLocalStorage<string>()

/** Runs work for an operator of the command line, or a person of the desk: the events that it causes name them. */
export function actAs<T>(who: string, work: () => T): T {
  return acting.run(who, work)
}

/** Who causes what runs now; null for the shop itself and its buyers. */
export function actor(): string | null {
  return acting.getStore() ?? null
}

/** A function that runs for who is acting now, also when it is called in a batch with others. */
export function asActor<T>(work: () => T): () => T {
  return AsyncLocalStorage.bind(work)
}
