import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'

/** Makes a tick for the keeper and one for nobody, collects, and says which are left and whether a later one is alike. */
const program = `
  import { createHook, executionAsyncResource } from 'node:async_hooks'
  import { setTimeout as sleep } from 'node:timers/promises'
  import { keepTickShape } from '${resolve('src/platform/tick-shape.ts')}'
  const ticks = []
  const hook = createHook({ init: (_, type, __, made) => type === 'TickObject' && ticks.push(new WeakRef(made)) }).enable()
  keepTickShape()
  process.nextTick(() => undefined)
  hook.disable()
  const [kept, other] = ticks
  await sleep(10)
  gc()
  await sleep(10)
  gc()
  process.nextTick(() => {
    const isLeft = [kept, other].map((tick) => tick.deref() !== undefined)
    console.log(JSON.stringify({ isLeft, isAlike: isLeft[0] && %HaveSameMap(kept.deref(), executionAsyncResource()) }))
  })`

test('one tick object outlives a full collection, and later ones have its shape', () => {
  const flags = ['--expose-gc', '--allow-natives-syntax', '--input-type=module']
  const said = execFileSync(process.execPath, [...flags, '-e', program], { encoding: 'utf8' })
  expect(JSON.parse(said)).toEqual({ isLeft: [true, false], isAlike: true })
})
