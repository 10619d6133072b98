import { availableParallelism } from 'node:os'
import { AppError } from '../../errors.ts'
import { importedCost, verifyImported } from './imported-hashes.ts'

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
  /**
   * False for a hash that is malformed or out of bounds, which takes as long as a real verification.
   *
   * @param storedHash of argon2id, or of another shop (imported-hashes.ts)
   * @param costs one stored hash of each cost that the shop has. The password is checked against one hash of each cost,
   *   so that the time does not show which kind of hash an account has.
   */
  verify(storedHash: string, password: string, costs?: readonly string[]): Promise<boolean>
  /** Takes as long as one verification, so that timing does not show whether an account exists. */
  verifyNothing(password: string, costs?: readonly string[]): Promise<false>
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
  // A salt and a hash of zero bytes: no known password has it.
  const absent = `${current}${'A'.repeat(22)}$${'A'.repeat(43)}`
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

  const verifyHash = async (storedHash: string, password: string, costs: readonly string[] = []): Promise<boolean> => {
    const { verify } = await argon2()
    const compare = (candidate: string): Promise<boolean> =>
      importedCost(candidate) === undefined
        ? // The library rejects immediately when salt or hash is not base64.
          verify(candidate, password).catch(async () => (await verify(absent, password)) && false)
        : verifyImported(candidate, password)
    const one = new Map<string | undefined, string>(
      [...costs, absent].map((candidate) => [costOf(candidate), candidate])
    )
    one.set(costOf(storedHash), storedHash)
    one.delete(undefined)
    let right = false
    for (const candidate of one.values()) {
      const matches = await inTurn(() => compare(candidate))
      if (candidate === storedHash) right = matches
    }
    return right
  }

  return {
    hash: (password) => inTurn(async () => (await argon2()).hash(password, cost)),
    verify: verifyHash,
    async verifyNothing(password, costs) {
      await verifyHash(absent, password, costs)
      return false
    },
    needsRehash: (storedHash) => !storedHash.startsWith(current),
    load: () => ({ running, waiting: waiting.length })
  }
}

/** Native code of 3 MB, which an idle server and most commands do not need. */
function argon2(): Promise<typeof import('@node-rs/argon2')> {
  return import('@node-rs/argon2')
}

/** Whether a stored hash can be checked: it is well-formed and within the bounds. */
export function isUsableHash(storedHash: string): boolean {
  return costOf(storedHash) !== undefined
}

/** Hashes of equal cost take equally long to check. Undefined for a hash that is malformed or out of bounds. */
function costOf(storedHash: string): string | undefined {
  const match = acceptable.exec(storedHash)
  if (match === null) return importedCost(storedHash)
  return Number(match[1]) <= 262_144 ? parametersOf(storedHash) : undefined
}

function parametersOf(argonHash: string): string {
  return argonHash.split('$').slice(0, 4).join('$')
}

function overloaded(): AppError {
  return new AppError(
    'DEPENDENCY_UNAVAILABLE',
    'Too many people are logging in right now. Please try again in a few seconds.',
    {},
    { headers: { 'Retry-After': retryAfterSeconds } }
  )
}
