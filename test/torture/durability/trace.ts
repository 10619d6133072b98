import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

/** One system call of the traced server; `begun` and `ended` are places in the trace, and so in time. */
export type Call = {
  name: string
  /** What strace says of the descriptor: a file's path, or `TCP:[from->to]`. */
  target: string
  text: string
  result: number
  begun: number
  ended: number
}

/** What strace is told: follow threads, say what descriptors are, and show whole pages of the database. */
export const straceOptions = (file: string): string[] => [
  'strace',
  // The tracer stands aside: what is started, and killed, is the server itself.
  '-D',
  '-f',
  '-yy',
  '-s',
  '4200',
  '-o',
  file,
  '-e',
  'trace=fsync,fdatasync,read,readv,recvfrom,write,writev,sendto,sendmsg,pwrite64,pwritev',
  '-e',
  'signal=none'
]

/** Reads strace's file; a call that another thread's line broke in two is one call again. */
export async function* readTrace(file: string): AsyncGenerator<Call> {
  const broken = new Map<string, { text: string; begun: number }>()
  let place = 0
  for await (const line of createInterface({ input: createReadStream(file, 'latin1') })) {
    place += 1
    const [, thread = '', said = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? []
    const resumed = /^<\.\.\. \w+ resumed>/.exec(said)
    if (said.endsWith(' <unfinished ...>')) {
      broken.set(thread, { text: said.slice(0, -' <unfinished ...>'.length), begun: place })
      continue
    }
    const start = resumed === null ? undefined : broken.get(thread)
    const text = start === undefined ? said : start.text + said.slice(resumed?.[0].length)
    const call = toCall(text, start?.begun ?? place, place)
    if (call !== undefined) yield call
  }
}

function toCall(text: string, begun: number, ended: number): Call | undefined {
  const [, name = '', target = ''] = /^(\w+)\(\d+<(.*?)>(?=[,)])/.exec(text) ?? []
  const result = Number(/ = (-?\d+)[^=]*$/.exec(text)?.[1] ?? Number.NaN)
  return name === '' ? undefined : { name, target, text, result, begun, ended }
}
