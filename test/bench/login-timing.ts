/**
 * Tests whether the time of a refused login reveals that an account exists: 500 logins with an unknown email and 500 with
 * a wrong password, interleaved. Exits with 1 when the medians differ by more than 10 percent.
 * Usage: node test/bench/login-timing.ts
 */
import { AppError } from '../../src/errors.ts'
import { login } from '../../src/shop/accounts/login.ts'
import type { ShopContext } from '../../src/shop/context.ts'
import { setSetting } from '../../src/shop/settings/settings.ts'
import { caller, makeUser } from '../support/people.ts'
import { openTestShop } from '../support/shop-context.ts'

const rounds = 500
const warmUp = 20
const maxPercent = 10

async function timeOf(shop: ShopContext, email: string): Promise<number> {
  const started = performance.now()
  const input = { username: null, email, password: 'not the password', rememberMe: false }
  const refusal = await login(shop, input, caller(), shop.clock.now()).catch((error: unknown) => error)
  const took = performance.now() - started
  if (refusal instanceof AppError && refusal.code === 'AUTH_INVALID_CREDENTIALS') return took
  throw new Error('The login was not refused with AUTH_INVALID_CREDENTIALS.', { cause: refusal })
}

function median(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

using shop = openTestShop()
// High enough that every failure is counted and no login is refused.
setSetting(shop.db, 'limits.login_ip', '1000000/900', 0)
setSetting(shop.db, 'limits.login_account', '1000000/900', 0)
await makeUser(shop)
const unknown: number[] = []
const wrong: number[] = []
for (let round = -warmUp; round < rounds; round += 1) {
  // The kinds alternate in going first.
  const order = round % 2 === 0 ? [true, false] : [false, true]
  for (const isKnown of order) {
    const took = await timeOf(shop, isKnown ? 'mira@shop.example' : `unknown${round}@shop.example`)
    if (round >= 0) (isKnown ? wrong : unknown).push(took)
  }
}
const [unknownMs, wrongMs] = [median(unknown), median(wrong)]
const apartPercent = (Math.abs(unknownMs - wrongMs) / Math.min(unknownMs, wrongMs)) * 100
process.stdout.write(
  `unknown email ${unknownMs.toFixed(2)} ms, wrong password ${wrongMs.toFixed(2)} ms, ${apartPercent.toFixed(1)} % apart ` +
    `(medians of ${rounds}, at most ${maxPercent} %)\n`
)
process.exitCode = apartPercent > maxPercent ? 1 : 0
