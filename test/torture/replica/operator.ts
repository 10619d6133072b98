import type { LostMachine } from '../replica.ts'
import { lostCharges } from './verify.ts'

/** Answers each charge whose order is lost: every other one becomes an order again, and the rest goes back. */
export async function answerLostCharges(machine: LostMachine): Promise<void> {
  const { trial, shop } = machine
  const run = async (...words: string[]): Promise<unknown> => {
    const { exitCode, stdout } = await shop.run(words)
    if (exitCode !== 0) trial.violation(`shopstead ${words.join(' ')}: ${stdout}`)
    return JSON.parse(stdout)
  }
  for (const { objectId } of await lostCharges(shop)) {
    if (trial.random.oneIn(2)) {
      await run('orders', 'refund', '--payment', objectId, '--yes')
      trial.count('lost charges refunded')
      continue
    }
    const created = await run('orders', 'create', '--email', `${objectId}@example.com`, '--item', 'mug:1')
    const { order } = created as { order: { id: number } }
    await run('orders', 'paid', String(order.id), '--payment', objectId, '--yes')
    trial.count('lost charges that became orders again')
  }
  const left = await lostCharges(shop)
  if (left.length > 0) trial.violation(`still open: ${left.map(({ message }) => message).join(' ')}`)
}
