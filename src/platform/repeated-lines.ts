import { onceFor } from './once-for.ts'
import type { LogFields, Logger } from './log.ts'

/** A logger for lines that a client can cause with each request. */
export type ClientLog = Pick<Logger, 'warn' | 'error'>

const periodMs = 60_000
/** Different lines in one period. Further ones are counted together. */
const maxDifferent = 100
/** What differs between two requests that fail for the same reason. */
const ofOneRequest: ReadonlySet<string> = new Set(['requestId', 'correlationId', 'stack'])

type Repeat = { times: number; write: (times: number) => void }

/**
 * Writes each line once, counts the same line for a minute, and then writes how often it was repeated (`times`). A
 * client can therefore not fill the disk with lines, and not hide another line among them. Every request has a line of
 * its own at level info.
 */
export const clientLog = onceFor((log: ClientLog): ClientLog => {
  const repeats = new Map<string, Repeat>()

  const line =
    (level: keyof ClientLog) =>
    (message: string, fields: LogFields = {}): void => {
      const [key, write] = keyOf(level, message, fields)
      const known = repeats.get(key)
      if (known !== undefined) known.times += 1
      else if (repeats.size < maxDifferent) {
        log[level](message, fields)
        begin(key, (times) => log[level](message, { ...write, times }))
      } else count('others', (times) => log.warn('further lines about failed requests were left out', { times }))
    }

  function count(key: string, write: Repeat['write']): void {
    const known = repeats.get(key) ?? begin(key, write)
    known.times += 1
  }

  function begin(key: string, write: Repeat['write']): Repeat {
    const repeat = { times: 0, write }
    repeats.set(key, repeat)
    setTimeout(() => end(key, repeat), periodMs).unref()
    return repeat
  }

  function end(key: string, { times, write }: Repeat): void {
    repeats.delete(key)
    if (times > 0) write(times)
  }

  return { warn: line('warn'), error: line('error') }
})

/** What makes two lines the same, and the fields that both have. */
function keyOf(level: string, message: string, fields: LogFields): [key: string, common: LogFields] {
  const common = Object.fromEntries(Object.entries(fields).filter(([name]) => !ofOneRequest.has(name)))
  return [JSON.stringify([level, message, common]), common]
}
