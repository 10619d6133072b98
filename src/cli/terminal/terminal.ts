import { constants, setPriority } from 'node:os'
import type { Readable } from 'node:stream'
import { createConsola } from 'consola'
import type { ConsolaInstance } from 'consola'
import { styleText } from 'node:util'
import { Writable } from 'node:stream'

type Input = Readable & { readonly isTTY?: boolean }
type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number; hasColors?(): boolean }

/** The streams, the environment and the signals of a command line. */
export type Terminal = {
  readonly stdin: Input
  /** Only results, so that they can be piped. */
  readonly stdout: Output
  readonly stderr: Output
  readonly env: Readonly<Record<string, string | undefined>>
  /** Messages to the operator, on standard error. */
  readonly messages: ConsolaInstance
  /** Asks the operator a yes-or-no question; false for no, Ctrl-C and Ctrl-D. */
  confirm(question: string): Promise<boolean>
  /** Waits for a signal to stop (SIGINT or SIGTERM). A second signal ends the process immediately. */
  untilStopped(): Promise<void>
  /**
   * A signal that aborts at SIGINT or SIGTERM, for a command that can stop in an orderly way. A second one ends the process
   * immediately. Disposing it gives the signals their usual effect again.
   */
  interruption(): { signal: AbortSignal } & Disposable
  /** Lowers the priority of this process, so that a server on the same machine gets the processor first. */
  giveWay(): void
  /** The exit code; a command that fails sets it. */
  exitCode: number
}

/**
 * The terminal of this process. When a reader closes the pipe (`shopstead orders list | head`), the process just ends;
 * when the output cannot be written for another reason, such as a full disk, it ends with one line and exit code 1.
 */
export function processTerminal(): Terminal {
  const { stdout, stderr } = process
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    const reason = error.code === 'ENOSPC' ? 'the disk is full' : error.message
    stderr.write(`Standard output cannot be written: ${reason}.\n`)
    process.exit(1)
  })
  stderr.on('error', () => undefined)
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
      /^y(es)?$/i.test((await ask({ stdin: process.stdin, stderr }, `${question} [y/N] `))?.trim() ?? ''),
    untilStopped: stopSignal,
    interruption,
    giveWay,
    exitCode: 0
  }
}

/**
 * Messages in consola's format, all to one stream.
 *
 * @param fancy whether they have colours and icons (default: not in CI or in a test runner)
 */
export function createMessages(stderr: Output, fancy?: boolean): ConsolaInstance {
  // consola reads only the width of its streams; the rest of a terminal is optional.
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

function interruption(): { signal: AbortSignal } & Disposable {
  const controller = new AbortController()
  const stop = (): void => {
    controller.abort()
    release()
  }
  const release = (): void => {
    process.removeListener('SIGINT', stop)
    process.removeListener('SIGTERM', stop)
  }
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  return { signal: controller.signal, [Symbol.dispose]: release }
}

function giveWay(): void {
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // Some containers forbid it. The command and the server then share the processor equally.
  }
}

type Format = 'bold' | 'green' | 'yellow' | 'red'

/** Colours a text for standard output if it is a terminal with colours and NO_COLOR is not set, or if FORCE_COLOR is. */
export function coloured({ stdout, env }: Pick<Terminal, 'stdout' | 'env'>, format: Format, text: string): string {
  const { FORCE_COLOR: forced = '0', NO_COLOR: none = '' } = env
  // A terminal reads both variables itself.
  const isOn = stdout.hasColors?.() ?? (forced !== '0' && none === '')
  return isOn ? styleText(format, text, { validateStream: false }) : text
}

/**
 * Asks for a line on the terminal, on standard error. Null when the operator ends the question with Ctrl-C or Ctrl-D.
 *
 * @param options.isHidden does not show what is typed
 */
export async function ask(
  { stdin, stderr }: { stdin: Readable; stderr: Writable },
  question: string,
  { isHidden = false } = {}
): Promise<string | null> {
  const { createInterface } = await import('node:readline')
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  // The reader turns off the echo of the terminal before the question is shown.
  const reader = createInterface({ input: stdin, output: isHidden ? silent : stderr, terminal: true, prompt: question })
  if (isHidden) stderr.write(question)
  reader.prompt()
  return new Promise((resolve) => {
    let answer: string | null = null
    reader.once('line', (line) => {
      answer = line
      reader.close()
    })
    reader.once('SIGINT', () => reader.close())
    reader.once('close', () => {
      // What was shown ends with the line break that the operator typed.
      if (isHidden || answer === null) stderr.write('\n')
      resolve(answer)
    })
  })
}

/** The operator's name for audits: the one who called sudo, or the user of the shell. */
export function operatorName({ env }: Pick<Terminal, 'env'>): string {
  return env['SUDO_USER'] || env['USER'] || env['LOGNAME'] || 'operator'
}
