import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Crowd, Lap } from './customers.ts'
import type { AttackName, Harm, Order } from './attacker.ts'

export type Customers = {
  /** What they felt since this was asked last. */
  lap(): Promise<Lap>
  leave(): void
}

const children = new Set<ChildProcess>()
process.on('exit', () => children.forEach((child) => child.kill('SIGKILL')))

export async function enterCustomers(crowd: Crowd): Promise<Customers> {
  const child = start([], 'customers.ts', crowd)
  const hear = hearing(child)
  await hear()
  return {
    lap() {
      const heard = hear() as Promise<Lap>
      child.send('lap')
      return heard
    },
    leave: () => child.disconnect()
  }
}

/**
 * Runs one attack in a process of its own, with the lowest claim to the machine: on another machine attackers would not
 * take the processor from the shop either.
 */
export async function attack<Name extends AttackName>(name: Name, order: Order<Name>): Promise<Harm<Name>> {
  const child = start(['nice', '-n', '19'], 'attacker.ts', { name, order })
  const harm = (await hearing(child)()) as Harm<Name>
  child.disconnect()
  return harm
}

function start(wrapper: readonly string[], script: string, argument: object): ChildProcess {
  const file = fileURLToPath(new URL(script, import.meta.url))
  const [program, ...args] = [...wrapper, process.execPath, file, JSON.stringify(argument)]
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  children.add(child)
  child.once('exit', () => children.delete(child))
  return child
}

/** What the child says next; it fails when the child dies instead. */
function hearing(child: ChildProcess): () => Promise<unknown> {
  const death = once(child, 'exit').then(([code, signal]: (string | number | null)[]) => {
    throw new Error(`${child.spawnargs.join(' ')} ended too early (${code ?? signal})`)
  })
  death.catch(() => undefined)
  return async () => {
    const [message] = (await Promise.race([once(child, 'message'), death])) as [unknown]
    return message
  }
}
