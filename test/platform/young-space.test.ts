import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const megabyte = 1024 * 1024

/** The young space of a process of its own that starts, rests, and then makes more objects than fit, in megabytes. */
function youngSpaceOf(bounded: boolean): { rested: number; loaded: number } {
  const program = `
    import { boundYoungSpace, youngSpaceBytes } from '${resolve('src/platform/young-space.ts')}'
    import { setTimeout as sleep } from 'node:timers/promises'
    let kept = []
    const work = () => { for (let i = 0; i < 10_000; i += 1) kept.push({ i, at: [i] }); if (kept.length > 400_000) kept = [] }
    for (let i = 0; i < 600; i += 1) work()
    kept = []
    if (${bounded}) boundYoungSpace()
    await sleep(1500)
    const rested = youngSpaceBytes()
    for (const until = Date.now() + 4000; Date.now() < until; await sleep(5)) work()
    console.log(JSON.stringify({ rested, loaded: youngSpaceBytes() }))`
  const { rested, loaded } = JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  ) as { rested: number; loaded: number }
  return { rested: rested / megabyte, loaded: loaded / megabyte }
}

describe('boundYoungSpace', () => {
  it('gives back what a start took, and stops its growth soon after it is enough', { timeout: 60_000 }, () => {
    const bounded = youngSpaceOf(true)
    const left = youngSpaceOf(false)
    expect(bounded.rested).toBeLessThanOrEqual(2)
    expect(left.rested).toBeGreaterThan(2)
    expect(bounded.loaded).toBeLessThanOrEqual(64)
    expect(left.loaded).toBeGreaterThan(64)
  })
})
