import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser } from '../../support/browser.ts'
import { atOnce, beside, crowd, expectEqual, expectOneWinner, newcomer, wordOf } from './ground.ts'
import type { Race } from './ground.ts'
import { affiliateAt } from './partners.ts'
import { plenty } from './shelf.ts'

type Balance = { unpaidMinor: number; paidMinor: number }
type Payouts = { payouts?: { amountMinor: number; payoutId: number | null }[]; error?: { code: string } }

const ordersEach = 3
/** Ten percent of an order of 5.00. */
const commissionMinor = 50

/**
 * Several operators mark the same commissions as paid; in odd rounds all of them have looked before the first one can
 * write.
 */
const payouts: Race = {
  name: 'one payout run by several operators',
  short: 2,
  async run(ground, round) {
    const { affiliate, code } = await affiliateAt(ground, this.name)
    const handoff = {
      strategy: 'token_handoff',
      paymentToken: 'pm_card_visa',
      returnUrl: 'https://site.example/thanks'
    }
    const bought = await atOnce(ordersEach, (index) =>
      ground.visitor(index).post(`/store/checkout-session?ref=${code}`, { items: [plenty], ...handoff })
    )
    expectEqual(
      ground,
      `${this.name}: orders`,
      bought.map(wordOf),
      Array.from({ length: ordersEach }, () => '200')
    )
    const isHeldUp = round % 2 === 1
    if (isHeldUp) ground.db.sqlite.exec('BEGIN IMMEDIATE')
    const paying = atOnce(3, () => ground.cli('referrals', 'pay', '--affiliate', code, '--yes', '--json'))
    if (isHeldUp) {
      await sleep(2_000)
      ground.db.sqlite.exec('ROLLBACK')
    }
    const ended = await paying
    const told = ended.map(({ exitCode, stdout }) => ({ exitCode, ...(JSON.parse(stdout) as Payouts) }))
    const words = told.map(({ exitCode, payouts: paid = [], error }) => {
      if (error !== undefined) return `${exitCode} ${error.code}`
      return `${exitCode} ${paid.length === 0 ? 'nothing is due' : 'paid'}`
    })
    expectOneWinner(ground, this.name, words, { winner: '0 paid', losers: ['0 nothing is due', '1 CONFLICT'] })
    const sum = told
      .flatMap(({ payouts: paid = [] }) => paid)
      .reduce((total, { amountMinor }) => total + amountMinor, 0)
    expectEqual(ground, `${this.name}: paid out`, sum, ordersEach * commissionMinor)
    const { unpaidMinor, paidMinor } = await balanceOf(affiliate)
    expectEqual(
      ground,
      `${this.name}: the balance`,
      [unpaidMinor, paidMinor],
      [0, round * ordersEach * commissionMinor]
    )
  }
}

/** Somebody applies again and again, while an operator makes him an affiliate at a terminal. */
const apply: Race = {
  name: 'one application by many',
  short: 2,
  async run(ground, round) {
    const email = `applies-${round}@shop.example`
    const applicant = await newcomer(ground, email, round)
    const words = [
      'affiliates',
      'create',
      '--user',
      email,
      '--code',
      `by-hand-${round}`,
      '--status',
      'active',
      '--json'
    ]
    const creating = ground.cli(...words)
    await sleep(ground.trial.random.between(0, 700))
    const answers = await atOnce(crowd, (index) => beside(ground, applicant, index).post('/affiliates/apply', {}))
    const { exitCode, stdout } = await creating
    const { error } = JSON.parse(stdout) as { error?: { code: string } }
    const created = error === undefined ? '200' : `${exitCode} ${error.code}`
    const losers = ['409 AFFILIATE_EXISTS', '1 AFFILIATE_EXISTS']
    expectOneWinner(ground, this.name, [...answers.map(wordOf), created], { winner: '200', losers })
    const { affiliate } = (await applicant.get<{ affiliate: { status: string } }>('/affiliates/me')).data
    expectEqual(ground, `${this.name}: the account`, affiliate.status, created === '200' ? 'active' : 'pending')
  }
}

async function balanceOf(affiliate: Browser): Promise<Balance> {
  return (await affiliate.get<{ balance: Balance }>('/affiliates/me')).data.balance
}

export const affiliateRaces: readonly Race[] = [payouts, apply]
