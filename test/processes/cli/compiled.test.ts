import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'shopstead-compiled-'))
afterAll(() => rmSync(folder, { recursive: true }))

function versionWith(env: Record<string, string>): string {
  const options = { env, encoding: 'utf8', timeout: 20_000 } as const
  return execFileSync(process.execPath, [resolve('bin/shopstead.js'), '--version'], options).trim()
}

describe('compiled code', () => {
  it('is kept below the home of whoever runs the program, for nobody else', () => {
    versionWith({ HOME: folder })
    const kept = join(folder, '.cache', 'shopstead')
    expect(readdirSync(kept)).toHaveLength(1)
    expect(statSync(kept).mode & 0o777).toBe(0o700)
  })

  it.each([{}, { HOME: '/proc' }, { HOME: join(folder, 'gone') }])('is not kept without a home: %o', (env) => {
    expect(versionWith(env)).toMatch(/^\d+\.\d+\.\d+/)
    expect(existsSync(join(folder, 'gone'))).toBe(false)
  })
})
