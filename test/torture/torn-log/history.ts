import { randomUUID } from 'node:crypto'
import type { Sandbox } from '../../../src/sandbox/sandbox.ts'
import { Browser } from '../../support/browser.ts'
import type { Random } from '../random.ts'
import { readLog } from './log-file.ts'

type Told = { what: 'account'; email: string } | { what: 'order'; id: number } | { what: 'payment'; id: number }

/** Something that was acknowledged, and how far the log went by then: with so much of the log it must be there. */
export type Acknowledged = Told & { logBytes: number }

/** Customers who register and buy one after the other; returns what each of them was told. */
export async function makeHistory(
  { apiRoot, log, sandbox }: { apiRoot: string; log: string; sandbox: Sandbox },
  random: Random,
  customers: number
): Promise<Acknowledged[]> {
  const acknowledged: Acknowledged[] = []
  const note = (told: Told): void => void acknowledged.push({ ...told, logBytes: readLog(log).commits.at(-1) ?? 0 })
  for (let left = customers; left > 0; left -= 1) {
    const visitor = new Browser(apiRoot)
    const email = `${randomUUID()}@example.com`
    const { status, text } = await visitor.register({ email })
    if (status !== 201) throw new Error(`nobody could register: ${text}`)
    note({ what: 'account', email })
    const { data } = await visitor.get<{ offers: { productId: number }[] }>('/store/offers')
    const items = data.offers.map(({ productId }) => ({ productId, quantity: 1 }))
    const purchase = await visitor.post('/store/checkout-session', { items, ...way(random) }, keyed())
    if (purchase.status === 402) continue
    if (purchase.status !== 200) throw new Error(`nobody could buy: ${purchase.text}`)
    const id = Number(purchase.data['orderId'])
    note({ what: 'order', id })
    const page = purchase.data['checkoutUrl']
    if (typeof page === 'string') {
      const { delivered } = await sandbox.payCheckout(page.split('/').at(-1) ?? '', { waitMs: 20_000 })
      if (delivered) note({ what: 'payment', id })
    } else note({ what: 'payment', id })
  }
  return acknowledged
}

function keyed(): { [name: string]: string } {
  return { 'idempotency-key': randomUUID() }
}

function way(random: Random): object {
  if (random.oneIn(2)) return {}
  const paymentToken = random.oneIn(5) ? 'pm_card_chargeDeclined' : 'pm_card_visa'
  return { strategy: 'token_handoff', paymentToken, returnUrl: 'https://site.example/thanks' }
}
