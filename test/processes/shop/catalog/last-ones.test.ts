import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { shopWith } from '../../../shop/catalog/support.ts'

const rounds = 50
const attempts = 25
const wonSchema = z.object({ units: z.array(z.number()), uses: z.array(z.number()) })

async function start(file: string): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, 'take-last-ones.ts'), [file, String(rounds), String(attempts)], {
    execArgv: []
  })
  onTestFinished(() => void child.kill())
  await once(child, 'message')
  return child
}

test('the last unit and the last coupon use go to one of fifty attempts from two processes, fifty times', async () => {
  const numbers = Array.from({ length: rounds }, (_, index) => index + 1)
  const db = shopWith({
    products: numbers.map((number) => ({ slug: `p${number}`, name: 'Last one', price: 1, stock: 1 })),
    coupons: numbers.map((number) => ({ code: `C${number}`, percent: 10, maxUses: 1 }))
  })
  const children = await Promise.all([start(db.file), start(db.file)])
  const answers = children.map(async (child) => wonSchema.parse((await once(child, 'message'))[0]))
  for (const child of children) child.send('go')
  const won = await Promise.all(answers)
  const sums = (name: 'units' | 'uses') =>
    numbers.map((_, index) => won.reduce((sum, counts) => sum + (counts[name][index] ?? 0), 0))
  expect(sums('units')).toEqual(numbers.map(() => 1))
  expect(sums('uses')).toEqual(numbers.map(() => 1))
  expect(db.sqlite.prepare('SELECT DISTINCT stock FROM products').pluck().all()).toEqual([0])
  expect(db.sqlite.prepare('SELECT DISTINCT used FROM coupons').pluck().all()).toEqual([1])
})
