import type { Readable, Writable } from 'node:stream'
import { createConsola } from 'consola'
import type { ConsolaInstance } from 'consola'

type Input = Readable & { readonly isTTY?: boolean }
type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number; hasColors?(): boolean }

/** Where a command line reads and writes, and how it learns what its process is told. */
export type Terminal = {
  readonly stdin: Input
  /** Results only, so that they can be piped on. */
  readonly stdout: Output
  readonly stderr: Output
  readonly env: Readonly<Record<string, string | undefined>>
  /** Messages to the operator, on standard error. */
  readonly messages: ConsolaInstance
  /** Asks the operator a yes-or-no question; false for no and for Ctrl-C. */
  confirm(question: string): Promise<boolean>
  /** Waits until the process is asked to stop (SIGINT or SIGTERM). A second request ends it at once. */
  untilStopped(): Promise<void>
  /** What the command line ends with; a command that fails sets it. */
  exitCode: number
}

/** The terminal of this process. A reader that goes away (`shopstead orders list | head`) ends the process quietly. */
export function processTerminal(): Terminal {
  const { stdout, stderr } = process
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
  const messages = createMessages(stderr)
  return {
    // Opened when a command first reads it.
    get stdin() {
      return process.stdin
    },
    stdout,
    stderr,
    env: process.env,
    messages,
    confirm: async (question) =>
      (await messages.prompt(question, { type: 'confirm', initial: false, cancel: 'null' })) === true,
    untilStopped: stopSignal,
    exitCode: 0
  }
}

/**
 * Messages as consola writes them, all to one stream.
 *
 * @param fancy whether they have colours and marks; by default they have them unless CI or a test runner reads them
 */
export function createMessages(stderr: Output, fancy?: boolean): ConsolaInstance {
  // consola asks its streams for a width only; everything else of a terminal is optional to it.
  const stream = stderr as NodeJS.WriteStream
  const style = fancy === undefined ? {} : { fancy }
  return createConsola({
    level: 3,
    stdout: stream,
    stderr: stream,
    throttle: 0,
    formatOptions: { date: false },
    ...style
  })
}

async function stopSignal(): Promise<void> {
  const signal = await new Promise<NodeJS.Signals>((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
  process.once(signal, () => process.exit(130))
}
