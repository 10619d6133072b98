import type { Browser } from '../../support/browser.ts'
import { newcomer } from './ground.ts'
import type { Ground } from './ground.ts'

export type Partner = { affiliate: Browser; code: string }

const known = new WeakMap<Ground, Map<string, Promise<Partner>>>()

/** The active affiliate that a race works with; made when it is first asked for. */
export function affiliateAt(ground: Ground, race: string): Promise<Partner> {
  const ofGround = known.get(ground) ?? new Map<string, Promise<Partner>>()
  known.set(ground, ofGround)
  const partner = ofGround.get(race) ?? makePartner(ground, `partner-${ofGround.size + 1}`)
  ofGround.set(race, partner)
  return partner
}

async function makePartner(ground: Ground, code: string): Promise<Partner> {
  const email = `${code}@shop.example`
  const affiliate = await newcomer(ground, email)
  const words = ['affiliates', 'create', '--user', email, '--code', code, '--status', 'active', '--json']
  const { exitCode, stdout } = await ground.cli(...words)
  if (exitCode !== 0) throw new Error(`${code} could not become an affiliate: ${stdout}`)
  return { affiliate, code }
}
