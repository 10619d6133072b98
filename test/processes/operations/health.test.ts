import { spawnSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { CheckResult } from '../../../src/operations/diagnosis/check.ts'
import { diagnose } from '../../../src/operations/diagnosis/diagnose.ts'
import { configOf, quietShop, silent } from '../../operations/health-support.ts'
import { runShopstead } from '../../support/command-process.ts'
import { createMigratedDatabase } from '../../support/migrated-database.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

describe('a check of the data folder fails', () => {
  it.skipIf(process.getuid?.() !== 0)('when the process cannot write to it', async () => {
    const dataDir = await quietShop()
    chmodSync(join(dataDir, '..'), 0o755)
    chmodSync(dataDir, 0o755)
    const { code, json } = await runShopstead<{ checks: CheckResult[] }>(dataDir, ['health', '--json'], {
      uid: 65_534
    })
    expect(code).toBe(1)
    expect(json.checks).toMatchObject([
      { name: 'data folder', status: 'failed', message: expect.stringMatching(/is not writable/) }
    ])
  })

  it('when its disk is full', async (context) => {
    const disk = temporaryFolder()
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', disk]).status !== 0) context.skip()
    onTestFinished(() => void spawnSync('umount', [disk]))
    const dataDir = join(disk, 'data')
    createMigratedDatabase(join(dataDir, 'shopstead.db'))
    expect(() => writeFileSync(join(disk, 'filler'), Buffer.alloc(4 * 1024 * 1024))).toThrow('ENOSPC')
    const report = await diagnose(configOf(dataDir), { log: silent })
    expect(report.status).toBe('failed')
    expect(report.checks.find(({ name }) => name === 'disk')).toMatchObject({
      status: 'failed',
      message: '0.0 MB free.'
    })
  })
})
