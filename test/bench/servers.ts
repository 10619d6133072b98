import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Packed } from '../support/packed.ts'
import type { GeneratedShop } from './generated-shop.ts'
import type { Side } from './measure/compare.ts'
import type { RequestSpec } from './measure/load.ts'
import { pinned } from './measure/machine.ts'
import { start } from './measure/process.ts'
import type { Running } from './measure/process.ts'
import type { StoredResponse } from './reference/answer.ts'

/** The running shop and references, pinned to the servers' core. */
export type Servers = {
  data: GeneratedShop
  /** A request to the shop. */
  shop(path: string, request?: Omit<RequestSpec, 'url'>): Side
  /** A request to the reference, whose paths have no prefix. */
  reference(path: string, request?: Omit<RequestSpec, 'url'>): Side
  tenLines: Side
  end(): Promise<void>
}

export type Payments = 'manual' | 'sandbox'

/**
 * Starts `shopstead serve` as the systemd unit does, in production (in test with the sandbox, which production refuses).
 * Discards its log.
 */
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
    SHOPSTEAD_PUBLIC_URL: 'https://shop.example',
    // Each request with a body comes from another address, as the load generator says.
    SHOPSTEAD_TRUSTED_PROXIES: '127.0.0.1'
  }
  const command = [
    process.execPath,
    '--max-semi-space-size=4',
    packed.program,
    'serve',
    '--port',
    '0',
    '--json'
  ] as const
  const running = await start(everyCore ? command : pinned('server', ...command), { env, cwd: packed.home })
  return { ...running, url: (JSON.parse(running.firstLine) as { url: string }).url }
}

/** Starts the shop, and the references with the shop's own constant responses. */
export async function startServers(packed: Packed, data: GeneratedShop, payments: Payments): Promise<Servers> {
  const shop = await serveShop(packed, data.dataDir, payments)
  const stored = await storeResponses(`${shop.url}/api/v1`)
  const answers = join(data.dataDir, 'answers.json')
  writeFileSync(answers, JSON.stringify(stored))
  const script = (name: string, ...args: string[]): Promise<Running> =>
    start(pinned('server', process.execPath, join(import.meta.dirname, name), ...args))
  const reference = await script('reference-server.ts', data.copy, answers)
  const tenLines = await script('ten-lines.ts', stored['/health'].body)
  return {
    data,
    shop: (path, request = {}) => ({ ...request, pid: shop.pid, url: `${shop.url}${path}` }),
    reference: (path, request = {}) => ({
      ...request,
      pid: reference.pid,
      url: `http://127.0.0.1:${reference.firstLine}${path}`
    }),
    tenLines: { pid: tenLines.pid, url: `http://127.0.0.1:${tenLines.firstLine}/` },
    end: async () => void (await Promise.all([shop.end(), reference.end(), tenLines.end()]))
  }
}

/** The page of one generated product. */
export const productPath = '/store/products/product-1'

/** A search that finds every generated product. */
export const searchPath = '/store/products?search=lantern'

/** The shop's constant responses with their headers, which the reference sends from memory. */
async function storeResponses(apiRoot: string) {
  const offers = await storeResponse(`${apiRoot}/store/offers`)
  const etag = offers.headers.find(([name]) => name === 'etag')?.[1] ?? ''
  return {
    '/health': await storeResponse(`${apiRoot}/health`),
    '/nonce': await storeResponse(`${apiRoot}/nonce`),
    '/store/offers': offers,
    '/store/products': await storeResponse(`${apiRoot}/store/products`),
    '/store/products-search': await storeResponse(`${apiRoot}${searchPath}`),
    [productPath]: await storeResponse(`${apiRoot}${productPath}`),
    '/store/offers-unchanged': await storeResponse(`${apiRoot}/store/offers`, { 'if-none-match': etag })
  } satisfies Record<string, StoredResponse>
}

const connectionHeaders = new Set(['connection', 'keep-alive', 'date', 'transfer-encoding'])

async function storeResponse(url: string, headers: Record<string, string> = {}): Promise<StoredResponse> {
  const response = await fetch(url, { headers })
  const sent = [...response.headers].filter(([name]) => !connectionHeaders.has(name))
  return { status: response.status, headers: sent, body: await response.text() }
}
