import { existsSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import type { ShopCommand } from '../../src/cli/run.ts'
import { parseConfig } from '../../src/platform/config/config.ts'
import { idleProgram, npmScripts, refusalOf } from './commands.ts'
import { compileErrors } from './compile-snippets.ts'
import { blocks, blocksIn } from './pages.ts'
import { readScript } from './shell.ts'

/** Programs of a Debian machine and of frameworks, and functions that a snippet defines. */
const programs = new Set(
  `apt-get astro bash caddy cat cd chmod curl dpkg esbuild git grep install journalctl node npm nuxt rm rsync ssh systemctl useradd vite`.split(
    ' '
  )
)
/** test/processes/docs/snippets.test.ts runs it. */
const isRun = (code: string): boolean => code.startsWith('API=')

let program: ShopCommand
beforeAll(async () => {
  program = await idleProgram()
})

/** What is wrong with a command of a shell snippet. */
function problemOf([name = '', ...args]: readonly string[]): string | undefined {
  if (name === 'npx') return problemOf(args)
  if (name === 'shop' || name === 'shopstead') return refusalOf(program, args)
  if (name === 'npm' && args[0] === 'run') return npmScripts.has(args[1] ?? '') ? undefined : `npm run ${args[1]}`
  // A site's own server.
  if (name === 'node' && args[0] === 'server.js') return undefined
  if (name === 'node') return existsSync(args[0] ?? '') ? undefined : `node ${args[0]}`
  return programs.has(name) ? undefined : `${name} is not a known program`
}

it('every code block has a language that a test checks', () => {
  const known = new Set(['sh', 'js', 'ts', 'json', 'caddy', 'nginx', 'diff', 'text', 'html'])
  expect(blocks.length).toBeGreaterThan(30)
  expect(blocks.filter(({ language }) => !known.has(language)).map(({ place }) => place)).toEqual([])
  // test/docs/worked-changes.test.ts applies the diffs.
  expect(new Set(blocksIn('diff').map(({ file }) => file))).toEqual(new Set(['docs/CONTRIBUTING.md']))
})

it.each(blocksIn('sh').filter(({ code }) => !isRun(code)))('every command of $place exists', ({ code }) => {
  const { commands } = readScript(code)
  expect(commands.length).toBeGreaterThan(0)
  expect(commands.map(problemOf).filter((problem) => problem !== undefined)).toEqual([])
})

it('every configuration file of a snippet is valid', () => {
  const files = blocksIn('sh').flatMap(({ code }) => readScript(code).documents)
  const configurations = files.filter(({ target }) => target.endsWith('.env'))
  // The second one is added to the first.
  expect(configurations).toHaveLength(2)
  const text = configurations.map((document) => document.text.trim()).join('\n')
  const variables = [...text.matchAll(/^(\w+)="?([^"\n]*)"?$/gm)].map(([, name = '', value = '']) => [name, value])
  expect(variables).toHaveLength(text.split('\n').length)
  expect(parseConfig(Object.fromEntries(variables)).env).toBe('production')
})

it.each(blocksIn('caddy', 'nginx'))(
  'the web server of $place reaches the port that the shop listens on',
  ({ code }) => {
    const ports = [...code.matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, port]) => Number(port))
    expect(new Set(ports)).toEqual(new Set([parseConfig({}).port]))
    expect(code.split('{')).toHaveLength(code.split('}').length)
  }
)

it.each(blocksIn('json'))('the JSON of $place is valid', ({ code }) => {
  expect(() => JSON.parse(code)).not.toThrow()
})

describe('every script', () => {
  const scripts = blocksIn('js', 'ts').filter(({ file }) => file !== 'docs/CONTRIBUTING.md')
  const snippets = Object.fromEntries(
    scripts.map(({ place, language, code }) => [`${place.replace(':', '-line-')}.${language}`, code])
  )
  /** What sites write besides: a site in TypeScript, with what its compiler must refuse. */
  const site = `import { createClient, isShopError, ShopError } from 'shopstead/client'
import type { ErrorCode, Me, Offer, Order, Product } from 'shopstead/client'
const shop = createClient()
export const entities: [Me?, Offer?, Order?, Product?, ErrorCode?] = []
export async function buy(form: { terms: boolean }) {
  await shop.register({ email: 'a@b.example', password: 'x', displayName: 'Ada', acceptTerms: form.terms })
  const redirect = await shop.checkout({ items: [{ productId: 1, quantity: 1 }] })
  const handoff = await shop.checkout({ items: [], strategy: 'token_handoff', returnUrl: '', paymentToken: '' })
  return redirect.checkoutUrl + handoff.paymentStatus
}
export const words: Partial<Record<ErrorCode, string>> = { RATE_LIMITED: 'Try again later.', NO_ANSWER: 'No connection.' }
export function explain(error: unknown): string | undefined {
  if (isShopError(error, 'RATE_LIMITED')) return error.details.bucket
  if (isShopError(error, 'VALIDATION_FAILED')) return error.details.fieldErrors['email']?.[0]
  if (isShopError(error) && error.code === 'CSRF_FAILED') return error.details.reason
  if (error instanceof ShopError && error.is('PAYLOAD_TOO_LARGE')) return String(error.details.limitBytes)
}`
  const wrong = `import { createClient } from 'shopstead/client'
import type { ErrorCode } from 'shopstead/client'
const shop = createClient()
shop.get('/stor/products')
shop.checkout({ items: [{ productId: 1 }] })
shop.checkout({ items: [] }).then(({ paymentStatus }) => paymentStatus)
export const words: Record<ErrorCode, string> = { RATE_LIMITED: 'Try again later.', NO_ANSWER: 'No connection.' }
export const code: ErrorCode = 'RATE_LIMITTED'`

  it.each([
    { strict: true, resolution: 'nodenext' },
    { strict: false, resolution: 'nodenext' },
    { strict: true, resolution: 'bundler' },
    { strict: false, resolution: 'bundler' }
  ] as const)('compiles for a site that has the package installed: %o', (settings) => {
    expect(scripts.length).toBeGreaterThan(4)
    expect(compileErrors({ ...snippets, 'site.ts': site, 'wrong.ts': wrong }, settings)).toEqual([
      expect.stringMatching(/^wrong\.ts:4 /),
      expect.stringMatching(/^wrong\.ts:5 /),
      expect.stringMatching(/^wrong\.ts:6 /),
      expect.stringMatching(/^wrong\.ts:7 .*missing the following properties.*AFFILIATE_EXISTS/),
      expect.stringMatching(/^wrong\.ts:8 /)
    ])
  })
})

describe('the checks of shell snippets', () => {
  it.each([
    ['shopstead orders shwo 1', "unknown command 'shwo'"],
    ['shopstead orders refund 1 --amont 5', 'unknown option'],
    ['shopstead orders show', 'missing required argument'],
    ['shopstead migrate now', 'too many arguments'],
    ['systemctl stop x && shpo health', 'shpo is not a known program'],
    ['npm run nonsense', 'npm run nonsense'],
    ['shopstead health | shopstead nonsense', 'unknown command']
  ])('refuse "%s"', (code, reason) => {
    expect(readScript(code).commands.map(problemOf).join('\n')).toContain(reason)
  })

  it('read quotes, comments, redirections, continuations and here-documents', () => {
    const code = [
      `shop settings set shop.name "Tin  Lantern" # shop nonsense`,
      `cat > /etc/a.env <<'END'\nA=1\nEND`,
      `curl -s 'http://x/?a=1&b=2' \\\n  | grep -E 'a|b' > out`
    ].join('\n')
    expect(readScript(code)).toEqual({
      commands: [
        ['shop', 'settings', 'set', 'shop.name', 'Tin  Lantern'],
        ['cat'],
        ['curl', '-s', 'http://x/?a=1&b=2'],
        ['grep', '-E', 'a|b']
      ],
      documents: [{ target: '/etc/a.env', text: 'A=1\n' }]
    })
  })
})
