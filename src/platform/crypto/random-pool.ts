import { randomFillSync } from 'node:crypto'

const pool = Buffer.alloc(4096)
let used = pool.length

/**
 * Fills a small target with random bytes, from a pool that is refilled 4 KiB at a time. randomFillSync leaves a native
 * object to the garbage collection for each call, which costs a tenth of the CPU time of GET /nonce. Only for bytes that
 * need not be secret: those of the next values lie in memory.
 *
 * @throws RangeError for a target that is larger than the pool
 */
export function fillRandom(target: Buffer): void {
  if (target.length > pool.length) throw new RangeError(`The pool has ${pool.length} bytes.`)
  if (used + target.length > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += pool.copy(target, 0, used, used + target.length)
}
