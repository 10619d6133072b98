import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

it('names each module of the package to a program that imports the package itself', async () => {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as { exports: Record<string, unknown> }
  expect(exports['.']).toBe('./bin/no-main-module.js')
  const error = await import(new URL('../../bin/no-main-module.js', import.meta.url).href).then(
    () => undefined,
    (thrown: unknown) => (thrown instanceof Error ? thrown.message : '')
  )
  const names = Object.keys(exports).filter((name) => !['.', './package.json'].includes(name))
  expect(names.filter((name) => !error?.includes(`'shopstead${name.slice(1)}'`))).toEqual([])
})
