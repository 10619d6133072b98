import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'
import { AppError } from '../../errors.ts'

/** OWASP's argon2id parameters; argon2id is the library's default algorithm. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
const current = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/
/** A stored hash is obeyed only within these bounds: one that asks for terabytes would take the process with it. */
const acceptable = /^\$argon2id\$v=19\$m=(\d{1,6}),t=([1-9]),p=[1-4]\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{22,86}$/

const maxWaiting = 256
const retryAfterSeconds = '2'

export type PasswordHasher = {
  hash(password: string): Promise<string>
  /** False for a hash that is malformed or out of bounds; costs one verification all the same. */
  verify(storedHash: string, password: string): Promise<boolean>
  /** One verification's work for an account that does not exist. */
  verifyNothing(password: string): Promise<false>
  needsRehash(storedHash: string): boolean
  /** Hashes that run or wait, for diagnostics. */
  load(): { running: number; waiting: number }
}

/**
 * argon2id, one hash fewer at once than there are cores, so that the thread which answers everything else keeps a core
 * of its own; up to 256 more wait their turn, and past that a caller is turned away, so that a flood of logins cannot
 * starve the rest.
 *
 * @throws AppError DEPENDENCY_UNAVAILABLE with Retry-After from any call that would wait behind a full queue.
 */
export function createPasswordHasher(slots: number = Math.max(1, availableParallelism() - 1)): PasswordHasher {
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
      // The slot goes straight to the next in line, so nobody can slip in between.
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }

  const absent = inTurn(() => hash('the password of nobody', parameters))
  const verifyHash = async (storedHash: string, password: string): Promise<boolean> => {
    const usable = isAcceptable(storedHash)
    const nobody = await absent
    // The library throws, and at once, on salt or hash that is no base64.
    const notDecoded = async (): Promise<boolean> => {
      await verify(nobody, password)
      return false
    }
    const right = await inTurn(() =>
      usable ? verify(storedHash, password).catch(notDecoded) : verify(nobody, password)
    )
    return usable && right
  }

  return {
    hash: (password) => inTurn(() => hash(password, parameters)),
    verify: verifyHash,
    async verifyNothing(password) {
      await verifyHash(await absent, password)
      return false
    },
    needsRehash: (storedHash) => !current.test(storedHash),
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
    'Too many logins are under way; please try again in a moment.',
    {},
    { headers: { 'Retry-After': retryAfterSeconds } }
  )
}
