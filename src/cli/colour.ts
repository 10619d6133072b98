import { styleText } from 'node:util'
import type { Terminal } from './terminal.ts'

type Format = 'bold' | 'green' | 'yellow' | 'red'

/** Colours a text for standard output if it is a terminal with colours and NO_COLOR is not set, or if FORCE_COLOR is. */
export function coloured({ stdout, env }: Pick<Terminal, 'stdout' | 'env'>, format: Format, text: string): string {
  const { FORCE_COLOR: forced = '0', NO_COLOR: none = '' } = env
  // A terminal reads both variables itself.
  const isOn = stdout.hasColors?.() ?? (forced !== '0' && none === '')
  return isOn ? styleText(format, text, { validateStream: false }) : text
}
