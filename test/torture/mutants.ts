import { spawn } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Trial, Part } from './part.ts'

/** The files that the short form mutates, and the tests that must detect the mutants. */
const short = {
  mutate: ['src/shop/accounts/nonce.ts', 'src/shop/referrals/commission.ts'],
  tests: ['test/shop/accounts/nonce.test.ts', 'test/shop/referrals/commission.test.ts']
}
/** The threshold of .config/stryker.json, which applies to the total. Here it applies to each folder. */
const minPercent = 80

const root = join(import.meta.dirname, '../..')
const reportFile = join(root, 'coverage/mutants/report.json')

type Mutant = { status: 'Killed' | 'Timeout' | 'Survived' | 'NoCoverage' | 'Ignored' | 'RuntimeError' | 'CompileError' }
type Report = { files: Record<string, { mutants: Mutant[] }> }

export const mutants: Part = {
  name: 'mutants',
  about: 'mutants of checkout, payments, sessions, nonces and referrals, which the tests must detect',
  async run(trial) {
    rmSync(reportFile, { force: true })
    await runStryker(trial)
    const report = JSON.parse(readFileSync(reportFile, 'utf8')) as Report
    for (const [folder, mutantsOf] of byFolder(report)) verify(trial, folder, mutantsOf)
  }
}

async function runStryker(trial: Trial): Promise<void> {
  // The short form always starts from scratch and does not touch the incremental results of the full form.
  const choice = trial.isFull
    ? []
    : ['--mutate', short.mutate.join(','), '--incrementalFile', 'coverage/mutants/short.json', '--force']
  const child = spawn('npm', ['run', '--silent', 'mutants', '--', ...choice], {
    cwd: root,
    env: trial.isFull ? process.env : { ...process.env, MUTANTS_TESTS: short.tests.join(' ') },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  createInterface(child.stdout).on('line', (line) => {
    if (line.startsWith('Mutation testing')) trial.progress(line)
  })
  // The exit code is not checked: it is also 1 for a low score, which the report shows.
  await new Promise((resolve) => child.once('close', resolve))
}

function byFolder({ files }: Report): Map<string, Mutant[]> {
  const folders = new Map<string, Mutant[]>()
  for (const [file, { mutants: found }] of Object.entries(files))
    folders.set(dirname(file), [...(folders.get(dirname(file)) ?? []), ...found])
  return folders
}

function verify(trial: Trial, folder: string, found: readonly Mutant[]): void {
  const count = (...statuses: Mutant['status'][]) => found.filter(({ status }) => statuses.includes(status)).length
  const killed = count('Killed', 'Timeout')
  const survived = count('Survived', 'NoCoverage')
  const percent = (100 * killed) / (killed + survived)
  trial.count(`mutants in ${folder}`, killed + survived)
  trial.figure(`${folder}: ${percent.toFixed(1)} % of ${killed + survived} detected, ${count('Ignored')} ignored`)
  const broken = count('RuntimeError', 'CompileError')
  if (broken > 0) trial.figure(`${folder}: ${broken} failed to run`)
  if (!(percent >= minPercent))
    trial.violation(
      `${folder}: ${survived} of ${killed + survived} mutants survived; at least ${minPercent} % must be detected`
    )
}
