import { once } from 'node:events'
import { watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loadDump } from '../../../src/operations/moving-in/wordpress/dump.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { dumpOf } from './old-shop.ts'

it('a dump is loaded inside a private folder, so that two imports cannot disturb each other', async () => {
  const folder = temporaryFolder()
  const before = process.env['TMPDIR']
  process.env['TMPDIR'] = folder
  const names = new Set<string>()
  const watcher = watch(folder)
  watcher.on('change', (_kind, name) => names.add(String(name)))
  try {
    await using dump = await loadDump(dumpOf('a1'))
    expect(dump.url).toContain(encodeURIComponent(folder))
  } finally {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
  }
  // Changes are reported in their order: once this file is seen, all of MariaDB's have been.
  const last = 'the-last-file'
  writeFileSync(join(folder, last), '')
  while (!names.has(last)) await once(watcher, 'change')
  watcher.close()
  expect([...names].filter((name) => name !== last)).toEqual([expect.stringMatching(/^shopstead-dump-\w+$/)])
})
