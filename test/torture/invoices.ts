import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { sendRequest } from './http-client.ts'
import { openShop } from './open-shop.ts'
import { runPacked, servePacked } from './packed-shop.ts'
import type { PackedServer } from './packed-shop.ts'
import type { Part, Trial } from './part.ts'

const products = [
  { slug: 'sheet', name: 'Sheet', price: '0', type: 'digital' },
  { slug: 'print', name: 'Print', price: '4.20', type: 'digital' }
]
const card = { strategy: 'token_handoff', paymentToken: 'pm_card_visa', returnUrl: 'https://site.example/thanks' }
const atOnce = 50

export const invoices: Part = {
  name: 'invoices',
  about:
    '50 payments at once with refunds and kill -9: each paid order has one invoice, and no number is missing or used twice',
  async run(trial) {
    const dataDir = mkdtempSync(join(trial.packed.folder, 'invoices-'))
    try {
      await openShop(trial.packed, dataDir, products)
      for (let round = 0; round < (trial.isFull ? 200 : 4); round += 1) {
        await payAtOnce(trial, dataDir)
        verify(trial, join(dataDir, 'shopstead.db'))
        trial.progress(`round ${round + 1}`)
      }
    } finally {
      rmSync(dataDir, { recursive: true, force: true })
    }
  }
}

/** Sends the payments to a new server and kills it while they are under way; another process refunds meanwhile. */
async function payAtOnce({ packed, random, count }: Trial, dataDir: string): Promise<void> {
  const server = await servePacked(packed, { dataDir })
  const killAfter = random.between(1, atOnce - 5)
  let answered = 0
  const payments = Array.from({ length: atOnce }, async (_, index) => {
    if (!(await buy(server, index % 5 === 0 ? 2 : 1))) return
    answered += 1
    if (answered === killAfter) server.child.kill('SIGKILL')
  })
  const refund = refundOne(packed, dataDir)
  await Promise.all(payments)
  await server.end('SIGKILL')
  count('kill -9')
  count('payments at once', atOnce)
  count('payments that were answered', answered)
  if (await refund) count('refunds')
}

/** Whether the server answered that the order is paid. */
async function buy({ apiRoot }: PackedServer, productId: number): Promise<boolean> {
  const body = { items: [{ productId, quantity: 1 }], ...(productId === 2 ? card : {}) }
  try {
    return (await sendRequest(`${apiRoot}/store/checkout-session`, { body })).status === 200
  } catch {
    return false
  }
}

/** Refunds a cent of a paid order from another process. */
async function refundOne(packed: Trial['packed'], dataDir: string): Promise<boolean> {
  const order = open(join(dataDir, 'shopstead.db'), (db) =>
    db
      .prepare<[], number>(
        `SELECT id FROM orders WHERE paid_at > 0 AND total_minor > refunded_minor ORDER BY id LIMIT 1`
      )
      .pluck()
      .get()
  )
  if (order === undefined) return false
  const words = ['orders', 'refund', String(order), '--amount', '0.01', '--by-hand', '--yes']
  return (await runPacked(packed, { dataDir }, ...words)).exitCode === 0
}

function open<T>(file: string, work: (db: Database.Database) => T): T {
  const db = new Database(file, { readonly: true })
  try {
    return work(db)
  } finally {
    db.close()
  }
}

function verify({ violation, count }: Trial, file: string): void {
  open(file, (db) => {
    const values = (sql: string): unknown[] => db.prepare(sql).pluck().all()
    const gaps = values(`
      SELECT kind || ' ' || year || ': ' || count(*) || ' numbers up to ' || max(sequence) FROM invoices
      GROUP BY kind, year HAVING count(*) <> max(sequence) OR count(DISTINCT number) <> max(sequence) OR min(sequence) <> 1`)
    const without = values(`
      SELECT id FROM orders o WHERE (paid_at IS NOT NULL AND total_minor > 0) <>
        (SELECT count(*) FROM invoices i WHERE i.order_id = o.id AND i.kind = 'invoice')`)
    const uncredited = values(`
      SELECT id FROM orders o WHERE refunded_minor <>
        (SELECT coalesce(sum(total_minor), 0) FROM invoices i WHERE i.order_id = o.id AND i.kind = 'credit_note')`)
    for (const gap of gaps) violation(String(gap))
    for (const id of without) violation(`order ${String(id)} is paid without one invoice, or has one without payment`)
    for (const id of uncredited) violation(`the credit notes of order ${String(id)} differ from its refunds`)
    count('checks of all numbers')
  })
}
