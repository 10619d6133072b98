import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { assetFiles } from '../../.config/assets.ts'
import { packagesOfData, writeNotices } from '../../.config/notices.ts'

/** Data of an installed dependency, which brings its own licence, and of drizzle-kit's list of our migrations. */
const withoutPackage = new Set(['src/platform/db/migrations/meta/_journal.json', 'src/sandbox/http/stripe-params.json'])

it('names the package of each JSON file that the build copies, with the licence of the package', () => {
  const data = assetFiles().filter((file) => file.endsWith('.json') && !withoutPackage.has(file))
  expect(data.length).toBeGreaterThan(1)
  expect(data.filter((file) => packagesOfData([file]).size !== 1)).toEqual([])
  const folder = mkdtempSync(join(tmpdir(), 'notices-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const packages = packagesOfData(data)
  writeNotices(folder, packages)
  const notices = readFileSync(join(folder, 'THIRD-PARTY-NOTICES.txt'), 'utf8')
  const missing = [...packages].filter(
    ([, place]) => !notices.includes(readFileSync(join(place, 'LICENSE'), 'utf8').trim())
  )
  expect(missing).toEqual([])
})
