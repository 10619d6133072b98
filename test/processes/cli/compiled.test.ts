import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'shopstead-compiled-'))
afterAll(() => rmSync(folder, { recursive: true }))

function versionWith(env: Record<string, string>): string {
  const options = { env, encoding: 'utf8', timeout: 20_000 } as const
  return execFileSync(process.execPath, [resolve('bin/shopstead.js'), '--version'], options).trim()
}

describe('the program', () => {
  it("keeps its compiled code in the user's cache folder", () => {
    versionWith({ HOME: join(folder, 'home') })
    expect(readdirSync(join(folder, 'home', '.cache', 'shopstead'))).toHaveLength(1)
  })

  it("keeps its compiled code in the service's cache folder when it has one", () => {
    versionWith({ HOME: join(folder, 'other'), CACHE_DIRECTORY: join(folder, 'service') })
    expect(readdirSync(join(folder, 'service', 'shopstead'))).toHaveLength(1)
    expect(existsSync(join(folder, 'other'))).toBe(false)
  })

  it.each([{}, { HOME: '/dev/null' }])('starts when it cannot keep its compiled code: %o', (env) => {
    expect(versionWith(env)).toMatch(/^\d+\.\d+\.\d+/)
  })
})
