import { Writable } from 'node:stream'
import type { Readable } from 'node:stream'

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
