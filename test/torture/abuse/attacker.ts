/** One attack in a separate process. Its argument is the attack's name and options; it sends the result to its parent. */
import { sendBodies } from './bodies.ts'
import { holdConnections } from './slow.ts'
import { flood } from './flood.ts'
import { storm } from './storm.ts'

const attacks = { flood, holdConnections, sendBodies, storm } as const
type Attack<Name extends AttackName> = (typeof attacks)[Name]

export type AttackName = keyof typeof attacks
export type AttackOptions<Name extends AttackName> = Parameters<Attack<Name>>[0]
export type AttackResult<Name extends AttackName> = Awaited<ReturnType<Attack<Name>>>

// The parent may exit before the attack ends.
process.on('disconnect', () => process.exit())
const { name, options } = JSON.parse(process.argv[2] ?? '{}') as { name: AttackName; options: never }
process.send?.(await attacks[name](options))
