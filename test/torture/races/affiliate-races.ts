import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser } from '../../support/browser.ts'
import {
  concurrently,
  sameSessionAt,
  crowdSize,
  expectEqual,
  expectOneWinner,
  registerCustomer,
  outcomeOf
} from './race-context.ts'
import type { Race } from './race-context.ts'
import { affiliateFor } from './affiliates.ts'
import { plenty } from './catalog.ts'

type Balance = { unpaidMinor: number; paidMinor: number }
type Payouts = { payouts?: { amountMinor: number; payoutId: number | null }[]; error?: { code: string } }

const ordersEach = 3
/** Ten percent of an order of 5.00. */
const commissionMinor = 50

/**
 * Several operators mark the same commissions as paid. In odd rounds a lock makes all of them read before the first one
 * can write.
 */
const payouts: Race = {
  name: 'concurrent payouts of the same commissions',
  shortRounds: 2,
  async run(context, round) {
    const { affiliate, code } = await affiliateFor(context, this.name)
    const handoff = {
      strategy: 'token_handoff',
      paymentToken: 'pm_card_visa',
      returnUrl: 'https://site.example/thanks'
    }
    const bought = await concurrently(ordersEach, (index) =>
      context.visitor(index).post(`/store/checkout-session?ref=${code}`, {
        items: [plenty],
        customer: { email: `payout-buyer-${round}-${index}@shop.example` },
        ...handoff
      })
    )
    expectEqual(
      context,
      `${this.name}: orders`,
      bought.map(outcomeOf),
      Array.from({ length: ordersEach }, () => '200')
    )
    const isDelayed = round % 2 === 1
    if (isDelayed) context.db.sqlite.exec('BEGIN IMMEDIATE')
    const paying = concurrently(3, () => context.cli('referrals', 'pay', '--affiliate', code, '--yes', '--json'))
    if (isDelayed) {
      await sleep(2_000)
      context.db.sqlite.exec('ROLLBACK')
    }
    const ended = await paying
    const results = ended.map(({ exitCode, stdout }) => ({ exitCode, ...(JSON.parse(stdout) as Payouts) }))
    const outcomes = results.map(({ exitCode, payouts: paid = [], error }) => {
      if (error !== undefined) return `${exitCode} ${error.code}`
      return `${exitCode} ${paid.length === 0 ? 'nothing is due' : 'paid'}`
    })
    expectOneWinner(context, this.name, outcomes, { winner: '0 paid', losers: ['0 nothing is due', '1 CONFLICT'] })
    const sum = results
      .flatMap(({ payouts: paid = [] }) => paid)
      .reduce((total, { amountMinor }) => total + amountMinor, 0)
    expectEqual(context, `${this.name}: paid out`, sum, ordersEach * commissionMinor)
    const { unpaidMinor, paidMinor } = await balanceOf(affiliate)
    expectEqual(
      context,
      `${this.name}: the balance`,
      [unpaidMinor, paidMinor],
      [0, round * ordersEach * commissionMinor]
    )
  }
}

/** A user sends many applications while a command makes the user an affiliate. */
const apply: Race = {
  name: 'concurrent applications of one user',
  shortRounds: 2,
  async run(context, round) {
    const email = `applies-${round}@shop.example`
    const applicant = await registerCustomer(context, email, round)
    const args = ['affiliates', 'create', '--user', email, '--code', `by-hand-${round}`, '--status', 'active', '--json']
    const creating = context.cli(...args)
    await sleep(context.trial.random.between(0, 700))
    const answers = await concurrently(crowdSize, (index) =>
      sameSessionAt(context, applicant, index).post('/affiliates/apply', {})
    )
    const { exitCode, stdout } = await creating
    const { error } = JSON.parse(stdout) as { error?: { code: string } }
    const created = error === undefined ? '200' : `${exitCode} ${error.code}`
    const losers = ['409 AFFILIATE_EXISTS', '1 AFFILIATE_EXISTS']
    expectOneWinner(context, this.name, [...answers.map(outcomeOf), created], { winner: '200', losers })
    const { affiliate } = (await applicant.get<{ affiliate: { status: string } }>('/affiliates/me')).data
    expectEqual(context, `${this.name}: the account`, affiliate.status, created === '200' ? 'active' : 'pending')
  }
}

async function balanceOf(affiliate: Browser): Promise<Balance> {
  return (await affiliate.get<{ balance: Balance }>('/affiliates/me')).data.balance
}

export const affiliateRaces: readonly Race[] = [payouts, apply]
