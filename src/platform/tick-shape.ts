import { executionAsyncResource } from 'node:async_hooks'

/**
 * Keeps one of Node's own tick objects alive. A full collection that finds none, as most do, makes V8 forget their shape
 * and take every later one for a new kind: each process.nextTick then takes a microsecond more for good, and a request
 * has seven. Called first of all: what a collection took before is gone.
 */
export function keepTickShape(): void {
  process.nextTick(() => (kept.tick = executionAsyncResource()))
}

const kept: { tick?: object } = {}
