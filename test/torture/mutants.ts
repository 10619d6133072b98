import { spawn } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Trial, Part } from './part.ts'

/** What the short form puts mistakes into, and the tests that have to notice them. */
const short = {
  mutate: ['src/shop/accounts/nonce.ts', 'src/shop/referrals/commission.ts'],
  tests: ['test/shop/accounts/nonce.test.ts', 'test/shop/referrals/commission.test.ts']
}
/** The threshold of .config/stryker.json, which holds over everything; here each folder is held to it. */
const leastPercent = 80

const root = join(import.meta.dirname, '../..')
const reportFile = join(root, 'coverage/mutants/report.json')

type Mutant = { status: 'Killed' | 'Timeout' | 'Survived' | 'NoCoverage' | 'Ignored' | 'RuntimeError' | 'CompileError' }
type Report = { files: Record<string, { mutants: Mutant[] }> }

export const mutants: Part = {
  name: 'mutants',
  about: 'small mistakes put into checkout, payments, sessions, nonces and referrals, which the tests have to notice',
  async run(trial) {
    rmSync(reportFile, { force: true })
    await runStryker(trial)
    const report = JSON.parse(readFileSync(reportFile, 'utf8')) as Report
    for (const [folder, those] of byFolder(report)) judge(trial, folder, those)
  }
}

async function runStryker(trial: Trial): Promise<void> {
  // The short form begins anew each time, and leaves alone what the whole one knows from before.
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
  // A score that is too low is an exit code of 1 as well: the report tells.
  await new Promise((resolve) => child.once('close', resolve))
}

function byFolder({ files }: Report): Map<string, Mutant[]> {
  const folders = new Map<string, Mutant[]>()
  for (const [file, { mutants: those }] of Object.entries(files))
    folders.set(dirname(file), [...(folders.get(dirname(file)) ?? []), ...those])
  return folders
}

function judge(trial: Trial, folder: string, those: readonly Mutant[]): void {
  const count = (...statuses: Mutant['status'][]) => those.filter(({ status }) => statuses.includes(status)).length
  const killed = count('Killed', 'Timeout')
  const survived = count('Survived', 'NoCoverage')
  const percent = (100 * killed) / (killed + survived)
  trial.count(`mistakes in ${folder}`, killed + survived)
  trial.figure(`${folder}: ${percent.toFixed(1)} % of ${killed + survived} noticed, ${count('Ignored')} left out`)
  const broken = count('RuntimeError', 'CompileError')
  if (broken > 0) trial.figure(`${folder}: ${broken} could not be run`)
  if (!(percent >= leastPercent))
    trial.violation(
      `${folder}: ${survived} of ${killed + survived} mistakes went unnoticed (at least ${leastPercent} %)`
    )
}
