import { randomUUID } from 'node:crypto'
import type { Sandbox } from '../../../src/sandbox/sandbox.ts'
import { Browser } from '../../support/browser.ts'
import type { Random } from '../random.ts'
import { readLog } from './log-file.ts'
import { quay } from '../../support/addresses.ts'

type AcknowledgedItem =
  | { what: 'account'; email: string }
  | { what: 'order'; id: number }
  | { what: 'payment'; id: number }

/** An acknowledged item, and the length of the log at that time. A log of at least this length must contain it. */
export type Acknowledged = AcknowledgedItem & { logBytes: number }

/** Registers customers who each buy something, one after another. Returns what was acknowledged. */
export async function makeHistory(
  { apiRoot, log, sandbox }: { apiRoot: string; log: string; sandbox: Sandbox },
  random: Random,
  customers: number
): Promise<Acknowledged[]> {
  const acknowledged: Acknowledged[] = []
  const note = (item: AcknowledgedItem): void =>
    void acknowledged.push({ ...item, logBytes: readLog(log).commits.at(-1) ?? 0 })
  for (let left = customers; left > 0; left -= 1) {
    const visitor = new Browser(apiRoot)
    const email = `${randomUUID()}@example.com`
    const { status, text } = await visitor.register({ email })
    if (status !== 201) throw new Error(`the registration failed: ${text}`)
    note({ what: 'account', email })
    const { data } = await visitor.get<{ offers: { productId: number }[] }>('/store/offers')
    const items = data.offers.map(({ productId }) => ({ productId, quantity: 1 }))
    const purchase = await visitor.post(
      '/store/checkout-session',
      { items, shippingAddress: quay, ...paymentFields(random) },
      newKey()
    )
    if (purchase.status === 402) continue
    if (purchase.status !== 200) throw new Error(`the checkout failed: ${purchase.text}`)
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

function newKey(): { [name: string]: string } {
  return { 'idempotency-key': randomUUID() }
}

function paymentFields(random: Random): object {
  if (random.oneIn(2)) return {}
  const paymentToken = random.oneIn(5) ? 'pm_card_chargeDeclined' : 'pm_card_visa'
  return { strategy: 'token_handoff', paymentToken, returnUrl: 'https://site.example/thanks' }
}
