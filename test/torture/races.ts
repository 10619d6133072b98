import type { Trial, Part } from './part.ts'
import { accountRaces } from './races/account-races.ts'
import { affiliateRaces } from './races/affiliate-races.ts'
import { checkoutRaces } from './races/checkout-races.ts'
import { openGround } from './races/ground.ts'
import { paymentRaces } from './races/payment-races.ts'
import { shelfFor } from './races/shelf.ts'

const wholeRounds = 200
const all = [...checkoutRaces, ...accountRaces, ...paymentRaces, ...affiliateRaces]

/** Everything that only one may have, wanted by many at once of two servers, and of commands beside them. */
export const races: Part = {
  name: 'races',
  about: 'many at once, at two servers on one database and at terminals beside them, for what one may have',
  async run(trial: Trial): Promise<void> {
    const ground = await openGround(trial, shelfFor(trial.isFull ? wholeRounds : 10))
    try {
      for (const race of all) {
        const rounds = trial.isFull ? wholeRounds : race.short
        trial.progress(`${race.name}, ${rounds} rounds`)
        for (let round = 1; round <= rounds; round += 1) await race.run(ground, round)
        await race.after?.(ground, rounds)
      }
      ground.servers.forEach(({ child }) => {
        if (child.exitCode !== null) trial.violation(`a server ended with ${child.exitCode}`)
      })
    } finally {
      await ground.close()
    }
  }
}
