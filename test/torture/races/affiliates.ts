import type { Browser } from '../../support/browser.ts'
import { registerCustomer } from './race-context.ts'
import type { RaceContext } from './race-context.ts'

export type RaceAffiliate = { affiliate: Browser; code: string }

const known = new WeakMap<RaceContext, Map<string, Promise<RaceAffiliate>>>()

/** The active affiliate of a race, created on first use. */
export function affiliateFor(context: RaceContext, race: string): Promise<RaceAffiliate> {
  const ofContext = known.get(context) ?? new Map<string, Promise<RaceAffiliate>>()
  known.set(context, ofContext)
  const affiliate = ofContext.get(race) ?? createAffiliate(context, `affiliate-${ofContext.size + 1}`)
  ofContext.set(race, affiliate)
  return affiliate
}

async function createAffiliate(context: RaceContext, code: string): Promise<RaceAffiliate> {
  const email = `${code}@shop.example`
  const affiliate = await registerCustomer(context, email)
  const args = ['affiliates', 'create', '--user', email, '--code', code, '--status', 'active', '--json']
  const { exitCode, stdout } = await context.cli(...args)
  if (exitCode !== 0) throw new Error(`${code} could not become an affiliate: ${stdout}`)
  return { affiliate, code }
}
