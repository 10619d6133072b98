/** One attack in a process of its own. Takes its name and order as an argument, and answers its parent what came of it. */
import { pourBodies } from './bodies.ts'
import { holdConnections } from './slow.ts'
import { storm } from './storm.ts'

const attacks = { holdConnections, pourBodies, storm } as const
type Attack<Name extends AttackName> = (typeof attacks)[Name]

export type AttackName = keyof typeof attacks
export type Order<Name extends AttackName> = Parameters<Attack<Name>>[0]
export type Harm<Name extends AttackName> = Awaited<ReturnType<Attack<Name>>>

// Whoever sent it may die before the attack is over.
process.on('disconnect', () => process.exit())
const { name, order } = JSON.parse(process.argv[2] ?? '{}') as { name: AttackName; order: never }
process.send?.(await attacks[name](order))
