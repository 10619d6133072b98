/**
 * The speed of argon2 alone: verifies one password repeatedly, two at a time, and prints the verifications per second and
 * the CPU time of each. Usage: node test/bench/bare-argon2.ts SECONDS PASSWORD
 */
import { hash, verify } from '@node-rs/argon2'

const [seconds = '3', password = ''] = process.argv.slice(2)
const stored = await hash(password, { memoryCost: 19_456, timeCost: 2, parallelism: 1 })
const until = performance.now() + Number(seconds) * 1000
const before = process.cpuUsage()
const startedAt = performance.now()
let done = 0

async function check(): Promise<void> {
  while (performance.now() < until) {
    if (!(await verify(stored, password))) throw new Error('The password was refused.')
    done += 1
  }
}

await Promise.all([check(), check()])
const { user, system } = process.cpuUsage(before)
const aSecond = done / ((performance.now() - startedAt) / 1000)
process.stdout.write(`${JSON.stringify({ aSecond, cpuMicros: (user + system) / done })}\n`)
