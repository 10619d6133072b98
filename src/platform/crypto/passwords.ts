import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import { AppError } from '../../errors.ts'

/** argon2id's parameters; argon2id is the library's default algorithm. */
type Cost = { memoryCost: number; timeCost: number; parallelism: number }
/** The parameters that OWASP recommends. */
const owaspCost: Cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
/** Bounds for the parameters in a stored hash: a hash that requires terabytes of memory would end the process. */
const acceptable = /^\$argon2id\$v=19\$m=(\d{1,6}),t=([1-9]),p=[1-4]\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{22,86}$/

const maxWaiting = 256
const retryAfterSeconds = '2'

export type PasswordHasher = {
  hash(password: string): Promise<string>
  /** False for a hash that is malformed or out of bounds, which takes as long as a real verification. */
  verify(storedHash: string, password: string): Promise<boolean>
  /** Takes as long as one verification, so that timing does not show whether an account exists. */
  verifyNothing(password: string): Promise<false>
  /** Whether the hash has other parameters than new ones. */
  needsRehash(storedHash: string): boolean
  /** The number of running and waiting hashes, for diagnostics. */
  load(): { running: number; waiting: number }
}

/**
 * Creates a hasher for argon2id. It runs one hash fewer in parallel than the machine has cores, so that the event loop
 * keeps a core. Up to 256 calls wait in a queue; further calls fail, so that a flood of logins does not block other
 * requests.
 *
 * @param options.cost OWASP's parameters by default
 *
 * @throws AppError DEPENDENCY_UNAVAILABLE with Retry-After, from every method that hashes, when the queue is full
 */
export function createPasswordHasher(options: { slots?: number; cost?: Cost } = {}): PasswordHasher {
  const { slots = Math.max(1, availableParallelism() - 1), cost = owaspCost } = options
  const current = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$`
  let running = 0
  const waiting: (() => void)[] = []

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (running >= slots) {
      if (waiting.length >= maxWaiting) throw overloaded()
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else {
      running += 1
    }
    try {
      return await work()
    } finally {
      // Pass the slot to the next call in the queue, so that no new call takes it first.
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }

  const absent = inTurn(() => hash('no account has this password', cost))
  const verifyHash = async (storedHash: string, password: string): Promise<boolean> => {
    const usable = isAcceptable(storedHash)
    const dummy = await absent
    // The library rejects immediately when salt or hash is not base64.
    const notDecoded = async (): Promise<boolean> => {
      await verify(dummy, password)
      return false
    }
    const right = await inTurn(() =>
      usable ? verify(storedHash, password).catch(notDecoded) : verify(dummy, password)
    )
    return usable && right
  }

  return {
    hash: (password) => inTurn(() => hash(password, cost)),
    verify: verifyHash,
    async verifyNothing(password) {
      await verifyHash(await absent, password)
      return false
    },
    needsRehash: (storedHash) => !storedHash.startsWith(current),
    load: () => ({ running, waiting: waiting.length })
  }
}

function isAcceptable(storedHash: string): boolean {
  const match = acceptable.exec(storedHash)
  return match !== null && Number(match[1]) <= 262_144
}

function overloaded(): AppError {
  return new AppError(
    'DEPENDENCY_UNAVAILABLE',
    'Too many people are logging in right now. Please try again in a few seconds.',
    {},
    { headers: { 'Retry-After': retryAfterSeconds } }
  )
}
