import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { applyAffiliates } from '../../../src/shop/affiliates/create.ts'
import { createUser } from '../../../src/shop/accounts/create-user.ts'
import { applyCampaigns, applyPlans } from '../../../src/shop/benefits/plans.ts'
import { applyCatalogFile } from '../../../src/shop/catalog/apply-catalog.ts'
import { readCatalogFile } from '../../../src/shop/catalog/import/read-file.ts'
import { dryRun } from '../../../src/platform/db/dry-run.ts'
import { AppError } from '../../../src/errors.ts'
import { write } from '../../../src/platform/db/database.ts'
import { openTestShop } from '../../support/shop-context.ts'
import type { TestShop } from '../../support/shop-context.ts'
import { runPacked } from '../packed-shop.ts'
import type { Trial } from '../part.ts'
import { cut } from './draft.ts'
import { fileFor, formats } from './files.ts'
import type { Secrets } from './verify.ts'

/** Imports many faulty files by function calls in this process, which are much faster than commands. */
export async function fuzzImporters(times: number, trial: Trial): Promise<void> {
  using shop = openTestShop()
  const user = {
    email: 'mira@shop.example',
    displayName: 'Mira',
    passwordHash: '',
    termsAcceptedAt: 1,
    privacyAcceptedAt: 1
  }
  write(
    shop.db,
    (tx) =>
      void createUser(
        tx,
        { firstName: null, lastName: null, marketingOptIn: false, verified: true, verificationPending: false, ...user },
        1
      )
  )
  for (const format of formats) {
    const random = trial.random.fork()
    const outcomes = { taken: 0, refused: 0 }
    const reports = new Map<string, string>()
    for (let time = 0; time < times; time += 1) {
      // Native objects are freed only between turns of the event loop.
      if (time % 100 === 0) await nextTurn()
      const content = fileFor(format, random)
      const wrong = tryImport(shop, content, outcomes)
      if (wrong !== undefined)
        reports.set(wrong.slice(0, 150), `${wrong}\n${cut(JSON.stringify(content.toString('utf8')), 1_500)}`)
    }
    for (const report of [...reports.values()].slice(0, 8)) trial.violation(`importing ${format}: ${report}`)
    trial.count(`importing ${format}`, times)
    trial.progress(`importing ${format}, ${times} files`)
    trial.figure(`importing ${format}: ${outcomes.taken} accepted, ${outcomes.refused} refused`)
  }
}

/** Imports a file and rolls it back. Returns the error unless the import succeeds or is refused with an AppError below 500. */
function tryImport(shop: TestShop, content: Buffer, outcomes: { taken: number; refused: number }): string | undefined {
  try {
    const { file } = readCatalogFile(content, { currency: 'EUR', timeZone: 'UTC' })
    dryRun(shop.db, (tx) => {
      applyPlans(tx, file.plans)
      applyCampaigns(tx, file.campaigns)
      applyCatalogFile(tx, file, { keepStock: false, urlOf: (slug) => `https://shop.example/${slug}` }, 1)
      applyAffiliates(tx, file.affiliates, 1)
      return true
    })
    outcomes.taken += 1
    return undefined
  } catch (error) {
    outcomes.refused += 1
    if (error instanceof AppError && error.status < 500) return undefined
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  }
}

/** Imports faulty files with commands, one process for each. */
export async function fuzzImportCommands(
  times: number,
  dataDir: string,
  secrets: Secrets,
  trial: Trial
): Promise<void> {
  const random = trial.random.fork()
  const reports = new Map<string, string>()
  let left = times
  const worker = async (number: number): Promise<void> => {
    while (left > 0) {
      left -= 1
      const format = random.pick(formats)
      const path = join(dataDir, `file-${number}`)
      const content = fileFor(format, random)
      writeFileSync(path, content)
      const args = random.pick([
        ['offers', 'import', path],
        ['offers', 'import', path, '--dry-run'],
        ['seed', path, '--yes']
      ])
      const json = random.oneIn(2)
      const ran = await runPacked(trial.packed, { dataDir }, ...args, ...(json ? ['--json'] : []))
      for (const wrong of verify(ran, json, secrets, path))
        reports.set(
          wrong.slice(0, 100),
          `${args.slice(0, -1).join(' ')}: ${wrong}\n${cut(JSON.stringify(content.toString('utf8')), 1_500)}`
        )
    }
  }
  await Promise.all([worker(1), worker(2)])
  for (const report of reports.values()) trial.violation(`command line: ${report}`)
  trial.count('importing by the command line', times)
}

function verify(
  { exitCode, stdout, stderr }: { exitCode: number; stdout: string; stderr: string },
  json: boolean,
  secrets: Secrets,
  path: string
): string[] {
  const said = `${stdout}\n${stderr}`.replaceAll(path, 'FILE')
  return [
    ...(exitCode === 0 || exitCode === 1 ? [] : [`exit code ${exitCode}: ${cut(said, 500)}`]),
    ...secrets.leaksIn(said).map((what) => `${what} on the terminal: ${cut(said, 900)}`),
    ...(json && !isJson(stdout) ? [`not JSON: ${cut(said, 500)}`] : []),
    ...(/INTERNAL_SERVER_ERROR/.test(said) ? [`an internal error: ${cut(said, 500)}`] : [])
  ]
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
