/**
 * Compares the packed package with minimal references, run by `npm run bench`. With taskset, the server and the load
 * generator have one core each. The two sides of a comparison run alternately.
 *
 *     npm run bench                            everything, over half an hour on a quiet machine
 *     npm run bench -- --short                 the form of CI: each request once for a second, with a smaller shop. It
 *                                              fails for another answer or a refused request, and never because of a time
 *     npm run bench -- --check                 exit with 1 when a result misses its target
 *     npm run bench -- --write                 write docs/benchmarks.md; rows that this run leaves out stay as they are
 *     npm run bench -- --only me,orders        only these rows (see --list)
 *     npm run bench -- --seconds 5 --rounds 5  longer and more runs
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { installPacked } from '../support/packed.ts'
import { openContext } from './context.ts'
import { benchmarksPage } from './document.ts'
import { grown, small } from './generated-shop.ts'
import type { Rounds } from './measure/compare.ts'
import { hasGenerator } from './measure/load.ts'
import { hasFailures, isReached, lineOf, report } from './report.ts'
import { addRun, describeRun } from './results.ts'
import type { Run } from './results.ts'
import { checkoutRow } from './rows/checkout.ts'
import { endpointRows } from './rows/endpoints.ts'
import { flashSaleRow } from './rows/flash-sale.ts'
import { footprintRows } from './rows/footprint.ts'
import { everythingRow } from './rows/everything.ts'
import { growingRow } from './rows/growing.ts'
import { growthRows } from './rows/growth.ts'
import { installRow } from './rows/install.ts'
import { loginRow } from './rows/login.ts'
import { pictureRow } from './rows/picture.ts'
import { proxyRow } from './rows/proxy.ts'
import { quoteRow } from './rows/quote.ts'
import type { Row } from './rows/row.ts'

/** The rows that read come first, because they need the shop as it was generated. */
const rows: readonly Row[] = [
  ...endpointRows,
  quoteRow,
  pictureRow,
  ...growthRows,
  growingRow,
  proxyRow,
  loginRow,
  ...footprintRows,
  checkoutRow,
  flashSaleRow,
  installRow,
  everythingRow
]

const help = `Usage: npm run bench -- [options]

  --check        exit with 1 when a result misses its target
  --write        write docs/benchmarks.md; rows that this run leaves out stay as they are
  --short        each request once for a second; exit with 1 for another answer or a refused request
  --only A,B     measure only these rows
  --seconds N    duration of each run (3)
  --rounds N     runs of each side (3); fewer are not reliable
  --list         list the rows
`

const { values } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    only: { type: 'string' },
    short: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false }
  }
})

const print = (text: string): void => void process.stdout.write(`${text}\n`)
const progress = (line: string): void => void process.stderr.write(`${line}\n`)

// process.exit runs the exit handlers, which stop the servers and remove the folders.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

const inShort: readonly Row[] = [
  ...endpointRows,
  quoteRow,
  pictureRow,
  growingRow,
  proxyRow,
  loginRow,
  checkoutRow,
  flashSaleRow
]
const asked = values.only?.split(',') ?? (values.short ? inShort : rows).map(({ name }) => name)
const unknown = asked.find((name) => !rows.some((row) => row.name === name))
const rounds: Rounds = values.short
  ? { rounds: 1, seconds: 1, warmUpSeconds: 0, connections: 32 }
  : { rounds: Number(values.rounds), seconds: Number(values.seconds), warmUpSeconds: 20, connections: 32 }
const isCounted = [rounds.rounds, rounds.seconds].every((count) => Number.isInteger(count) && count > 0)

if (values.help) print(help)
else if (values.list) for (const { name, about } of rows) print(`${name.padEnd(12)}${about}`)
else if (unknown !== undefined) refuse(`Unknown row "${unknown}". List the rows with --list.`)
else if (!isCounted) refuse('--seconds and --rounds must be integers of at least 1.')
else if (values.write && values.short) refuse('--short measures too little to be written.')
else if (process.platform !== 'linux')
  refuse('The benchmark requires Linux, because it reads CPU time and memory from /proc.')
else if (!hasGenerator()) refuse('The benchmark requires wrk. Install it; on Debian and Ubuntu: apt-get install wrk')
else await bench(rows.filter(({ name }) => asked.includes(name)))

function refuse(why: string): void {
  progress(why)
  process.exitCode = 2
}

async function bench(selected: readonly Row[]): Promise<void> {
  progress('building, packing and installing the package')
  const packed = installPacked()
  process.on('exit', () => packed.remove())
  const context = openContext(packed, rounds, values.short ? small : grown, progress)
  const run: Run = { ...describeRun(rounds), rows: {} }
  for (const row of selected) {
    progress(row.about)
    const measured = await row.measure(context)
    for (const outcome of measured) progress(`  ${lineOf(outcome)}`)
    run.rows[row.name] = measured
    // After each row, so that a long run that ends early is not lost.
    if (values.write) writeFileSync('docs/benchmarks.md', benchmarksPage(addRun(run)))
  }
  await context.clear()
  print(report(run))
  const outcomes = Object.values(run.rows).flat()
  const isFailed = values.short ? outcomes.some(hasFailures) : values.check && !outcomes.every(isReached)
  if (isFailed) process.exitCode = 1
}
