import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

/** One system call of the traced server. `startedAt` and `endedAt` are positions in the trace, and so ordered in time. */
export type SystemCall = {
  name: string
  /** The file descriptor's target as strace prints it: a path or `TCP:[from->to]`. */
  target: string
  text: string
  result: number
  startedAt: number
  endedAt: number
}

/** Options of strace: follow threads, print what descriptors refer to, and print whole database pages. */
export const straceOptions = (file: string): string[] => [
  'strace',
  // The tracer is a grandchild, so that the started process is the server itself.
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

/** Reads strace's output. Joins the two halves of a call that another thread's line interrupted. */
export async function* readTrace(file: string): AsyncGenerator<SystemCall> {
  const broken = new Map<string, { text: string; startedAt: number }>()
  let position = 0
  for await (const line of createInterface({ input: createReadStream(file, 'latin1') })) {
    position += 1
    const [, thread = '', content = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? []
    const resumed = /^<\.\.\. \w+ resumed>/.exec(content)
    if (content.endsWith(' <unfinished ...>')) {
      broken.set(thread, { text: content.slice(0, -' <unfinished ...>'.length), startedAt: position })
      continue
    }
    const start = resumed === null ? undefined : broken.get(thread)
    const text = start === undefined ? content : start.text + content.slice(resumed?.[0].length)
    const call = toCall(text, start?.startedAt ?? position, position)
    if (call !== undefined) yield call
  }
}

function toCall(text: string, startedAt: number, endedAt: number): SystemCall | undefined {
  const [, name = '', target = ''] = /^(\w+)\(\d+<(.*?)>(?=[,)])/.exec(text) ?? []
  const result = Number(/ = (-?\d+)[^=]*$/.exec(text)?.[1] ?? Number.NaN)
  return name === '' ? undefined : { name, target, text, result, startedAt, endedAt }
}
