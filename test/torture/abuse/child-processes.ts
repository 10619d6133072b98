import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { CustomersOptions, Sample } from './customers.ts'
import type { AttackName, AttackResult, AttackOptions } from './attacker.ts'

export type Customers = {
  /** Their measurements since the last call. */
  sample(): Promise<Sample>
  stop(): void
}

const children = new Set<ChildProcess>()
process.on('exit', () => children.forEach((child) => child.kill('SIGKILL')))

/** Starts ordinary customers in a separate process. */
export async function startCustomers(options: CustomersOptions): Promise<Customers> {
  const child = start([], 'customers.ts', options)
  const nextMessage = messagesOf(child)
  await nextMessage()
  return {
    sample() {
      const message = nextMessage() as Promise<Sample>
      child.send('sample')
      return message
    },
    stop: () => child.disconnect()
  }
}

/**
 * Runs one attack in a separate process with the lowest priority, because real attackers do not use the shop's
 * processor.
 */
export async function attack<Name extends AttackName>(
  name: Name,
  options: AttackOptions<Name>
): Promise<AttackResult<Name>> {
  const child = start(['nice', '-n', '19'], 'attacker.ts', { name, options })
  const result = (await messagesOf(child)()) as AttackResult<Name>
  child.disconnect()
  return result
}

function start(wrapper: readonly string[], script: string, argument: object): ChildProcess {
  const file = fileURLToPath(new URL(script, import.meta.url))
  const [program, ...args] = [...wrapper, process.execPath, file, JSON.stringify(argument)]
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  children.add(child)
  child.once('exit', () => children.delete(child))
  return child
}

/** A function that resolves with the child's next message, or rejects when the child exits. */
function messagesOf(child: ChildProcess): () => Promise<unknown> {
  const death = once(child, 'exit').then(([code, signal]: (string | number | null)[]) => {
    throw new Error(`${child.spawnargs.join(' ')} exited early (${code ?? signal})`)
  })
  death.catch(() => undefined)
  return async () => {
    const [message] = (await Promise.race([once(child, 'message'), death])) as [unknown]
    return message
  }
}
