import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Two halves of 16 MB: with a small part of it there is more to copy, with more a shop answers no faster. */
const enoughBytes = 32 * 1024 * 1024
const startOverMs = 1000
const lookEveryMs = 250

/**
 * Keeps a server's memory small: V8 gives new objects as much room as a start needs and keeps it, and under load up to
 * 128 MB. Here the room of the start is given back when that is over, and then grows to what is enough. V8 reads no
 * limit after its own start, but it does read the factor it grows by.
 */
export function boundYoungSpace(): void {
  setTimeout(() => {
    collectAll()
    setInterval(
      () => setFlagsFromString(`--semi-space-growth-factor=${youngSpaceBytes() < enoughBytes ? 2 : 1}`),
      lookEveryMs
    ).unref()
  }, startOverMs).unref()
}

export function youngSpaceBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0
}

/** The one collection of V8 that makes the young space smaller; 50 ms. */
function collectAll(): void {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as NodeJS.GCFunction
  setFlagsFromString('--no-expose-gc')
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
