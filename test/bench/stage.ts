import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Packed } from '../support/packed.ts'
import type { GeneratedShop } from './generated-shop.ts'
import type { Side } from './measure/compare.ts'
import type { Asked } from './measure/load.ts'
import { pinned } from './measure/machine.ts'
import { start } from './measure/process.ts'
import type { Running } from './measure/process.ts'
import type { KeptAnswer } from './reference/answer.ts'

/** Shop and reference, both running on the core for servers. */
export type Stage = {
  data: GeneratedShop
  /** The same request to either; the reference answers the shop's own addresses, without a prefix. */
  shop(path: string, asked?: Omit<Asked, 'url'>): Side
  reference(path: string, asked?: Omit<Asked, 'url'>): Side
  tenLines: Side
  end(): Promise<void>
}

export type Payments = 'manual' | 'sandbox'

/** `shopstead serve` as in production, bar the sandbox, which there is none of there. Its log goes nowhere. */
export async function serveShop(
  packed: Packed,
  dataDir: string,
  payments: Payments,
  { everyCore = false } = {}
): Promise<Running & { url: string }> {
  const { PATH, HOME } = process.env
  const env = {
    PATH,
    HOME,
    SHOPSTEAD_DATA_DIR: dataDir,
    SHOPSTEAD_PAYMENTS: payments,
    SHOPSTEAD_ENV: payments === 'sandbox' ? 'test' : 'production',
    SHOPSTEAD_PUBLIC_URL: 'https://shop.example'
  }
  const command = [process.execPath, packed.program, 'serve', '--port', '0', '--json'] as const
  const running = await start(everyCore ? command : pinned('server', ...command), { env, cwd: packed.home })
  return { ...running, url: (JSON.parse(running.said) as { url: string }).url }
}

export async function openStage(packed: Packed, data: GeneratedShop, payments: Payments): Promise<Stage> {
  const shop = await serveShop(packed, data.dataDir, payments)
  const kept = await keepAnswers(`${shop.url}/api/v1`)
  const answers = join(data.dataDir, 'answers.json')
  writeFileSync(answers, JSON.stringify(kept))
  const script = (name: string, ...args: string[]): Promise<Running> =>
    start(pinned('server', process.execPath, join(import.meta.dirname, name), ...args))
  const reference = await script('reference-server.ts', data.copy, answers)
  const tenLines = await script('ten-lines.ts', kept['/health'].body)
  return {
    data,
    shop: (path, asked = {}) => ({ ...asked, pid: shop.pid, url: `${shop.url}${path}` }),
    reference: (path, asked = {}) => ({
      ...asked,
      pid: reference.pid,
      url: `http://127.0.0.1:${reference.said}${path}`
    }),
    tenLines: { pid: tenLines.pid, url: `http://127.0.0.1:${tenLines.said}/` },
    end: async () => void (await Promise.all([shop.end(), reference.end(), tenLines.end()]))
  }
}

/** What the reference gives from memory: the shop's own answers, headers and all. */
async function keepAnswers(apiRoot: string) {
  const offers = await keep(`${apiRoot}/store/offers`)
  const etag = offers.headers.find(([name]) => name === 'etag')?.[1] ?? ''
  return {
    '/health': await keep(`${apiRoot}/health`),
    '/nonce': await keep(`${apiRoot}/nonce`),
    '/store/offers': offers,
    '/store/offers-unchanged': await keep(`${apiRoot}/store/offers`, { 'if-none-match': etag })
  } satisfies Record<string, KeptAnswer>
}

const ofTheConnection = new Set(['connection', 'keep-alive', 'date', 'transfer-encoding'])

async function keep(url: string, headers: Record<string, string> = {}): Promise<KeptAnswer> {
  const response = await fetch(url, { headers })
  const sent = [...response.headers].filter(([name]) => !ofTheConnection.has(name))
  return { status: response.status, headers: sent, body: await response.text() }
}
