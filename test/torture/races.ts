import type { Trial, Part } from './part.ts'
import { accountRaces } from './races/account-races.ts'
import { affiliateRaces } from './races/affiliate-races.ts'
import { checkoutRaces } from './races/checkout-races.ts'
import { openRaceContext } from './races/race-context.ts'
import { paymentRaces } from './races/payment-races.ts'
import { catalogFor } from './races/catalog.ts'

const wholeRounds = 200
const all = [...checkoutRaces, ...accountRaces, ...paymentRaces, ...affiliateRaces]

/** Tests resources that only one request may get, with concurrent requests to two servers and concurrent commands. */
export const races: Part = {
  name: 'races',
  about: 'concurrent requests to two servers on one database, and concurrent commands, for what only one may get',
  async run(trial: Trial): Promise<void> {
    const context = await openRaceContext(trial, catalogFor(trial.isFull ? wholeRounds : 10))
    try {
      for (const race of all) {
        const rounds = trial.isFull ? wholeRounds : race.shortRounds
        trial.progress(`${race.name}, ${rounds} rounds`)
        for (let round = 1; round <= rounds; round += 1) await race.run(context, round)
        await race.after?.(context, rounds)
      }
      context.servers.forEach(({ child }) => {
        if (child.exitCode !== null) trial.violation(`a server ended with ${child.exitCode}`)
      })
    } finally {
      await context.close()
    }
  }
}
