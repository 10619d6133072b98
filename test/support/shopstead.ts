import { spawn } from 'node:child_process'

export type Ran = { code: number | null; stdout: string; stderr: string; json: Record<string, unknown> }

/**
 * Runs the command line as a process of its own, without a terminal; `input` is its standard input. It shall not know
 * that it is tested: consola holds its tongue under TEST and NODE_ENV=test.
 */
export async function shopstead(dataDir: string, args: readonly string[], input = ''): Promise<Ran> {
  const untested = { TEST: undefined, CI: undefined, NODE_ENV: undefined }
  const env = { ...process.env, ...untested, SHOPSTEAD_ENV: 'test', SHOPSTEAD_LOG: 'silent', NO_COLOR: '1' }
  const child = spawn(process.execPath, ['bin/shopstead.js', ...args, '--data-dir', dataDir], { env })
  const [out, err]: string[][] = [[], []]
  child.stdout.setEncoding('utf8').on('data', (text: string) => out?.push(text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => err?.push(text))
  child.stdin.on('error', () => undefined).end(input)
  const code = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  const stdout = out?.join('') ?? ''
  return { code, stdout, stderr: err?.join('') ?? '', json: args.includes('--json') ? JSON.parse(stdout) : {} }
}
