import { Readable, Writable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { main } from '../../src/cli/main.ts'
import { createMessages } from '../../src/cli/terminal/terminal.ts'
import type { Terminal } from '../../src/cli/terminal/terminal.ts'

/** The output and exit code of a command; `json` is its parsed standard output if it ran with `--json`. */
export type Ran<Json = Record<string, unknown>> = { code: number; stdout: string; stderr: string; json: Json }

export type Typed = {
  /** Standard input. */
  input?: string
  /** `SHOPSTEAD_*` variables besides SHOPSTEAD_ENV=test and SHOPSTEAD_LOG=silent. */
  env?: Record<string, string>
  /** Answers to the questions, on a terminal of 80 columns. Without them, the command has no terminal. */
  answers?: boolean[]
}

/** Runs `shopstead ARGS` on a data folder in this process, from its arguments to its exit code. */
export async function shopstead<Json = Record<string, unknown>>(
  dataDir: string,
  args: readonly string[],
  typed: Typed = {}
): Promise<Ran<Json>> {
  const { terminal, stdout, stderr } = testTerminal(typed)
  const code = await main([...args, '--data-dir', dataDir], terminal)
  const json = (args.includes('--json') ? JSON.parse(stdout() || 'null') : {}) as Json
  const shown = typed.answers === undefined ? stripVTControlCharacters(stderr()) : stderr()
  return { code, stdout: stdout(), stderr: shown, json }
}

/** A terminal that records its output. */
export function testTerminal({ input = '', env = {}, answers }: Typed = {}) {
  const isTTY = answers !== undefined
  const out = collect(isTTY)
  const err = collect(isTTY)
  const terminal: Terminal = {
    stdin: Object.assign(Readable.from([Buffer.from(input)]), { isTTY }),
    stdout: out.stream,
    stderr: err.stream,
    env: { SHOPSTEAD_ENV: 'test', SHOPSTEAD_LOG: 'silent', ...env },
    messages: createMessages(err.stream, true),
    confirm: async (question) => {
      err.stream.write(`${question}\n`)
      return answers?.shift() ?? false
    },
    untilStopped: async () => undefined,
    giveWay: () => undefined,
    interruption: () => ({ signal: new AbortController().signal, [Symbol.dispose]: () => undefined }),
    exitCode: 0
  }
  return { terminal, stdout: out.text, stderr: err.text }
}

function collect(isTTY: boolean) {
  let text = ''
  const write = (chunk: Buffer, _encoding: BufferEncoding, done: () => void): void => {
    text += chunk.toString('utf8')
    done()
  }
  return { stream: Object.assign(new Writable({ write }), { isTTY, columns: 80 }), text: () => text }
}
