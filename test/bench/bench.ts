/**
 * Measures the packed package against the raw machine, by `npm run bench`. The server has one core and the load another
 * one, where taskset is there; what is compared runs by turns.
 *
 *     npm run bench                            everything; a quarter of an hour, and a quiet machine
 *     npm run bench -- --check                 ends with 1 when something misses what it is to reach
 *     npm run bench -- --only me,orders        these rows alone (--list names them)
 *     npm run bench -- --seconds 5 --rounds 5  longer runs, and more of them
 */
import { parseArgs } from 'node:util'
import { installPacked } from '../support/packed.ts'
import { openField } from './field.ts'
import type { Rounds } from './measure/compare.ts'
import { hasGenerator } from './measure/load.ts'
import { isReached, lineOf, report } from './report.ts'
import { checkoutRow } from './rows/checkout.ts'
import { endpointRows } from './rows/endpoints.ts'
import { footprintRows } from './rows/footprint.ts'
import { growthRows } from './rows/growth.ts'
import { installRow } from './rows/install.ts'
import { loginRow } from './rows/login.ts'
import { proxyRow } from './rows/proxy.ts'
import type { Outcome, Row } from './rows/row.ts'

/** Those that read come before those that write, and find the shop as it was made. */
const rows: readonly Row[] = [
  ...endpointRows,
  ...growthRows,
  proxyRow,
  loginRow,
  ...footprintRows,
  checkoutRow,
  installRow
]

const help = `Usage: npm run bench -- [options]

  --check        end with 1 when something misses what it is to reach
  --only A,B     measure these rows alone
  --seconds N    how long each run takes (3)
  --rounds N     how many runs of each side, by turns (3); fewer tell nothing
  --list         name the rows
`

const { values } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    only: { type: 'string' },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false }
  }
})

const print = (text: string): void => void process.stdout.write(`${text}\n`)
const tell = (line: string): void => void process.stderr.write(`${line}\n`)

// An interrupt ends as any end does: the servers are stopped, and the folders go.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

const asked = values.only?.split(',') ?? rows.map(({ name }) => name)
const unknown = asked.find((name) => !rows.some((row) => row.name === name))
const rounds: Rounds = { rounds: Number(values.rounds), seconds: Number(values.seconds), connections: 32 }
const isCounted = [rounds.rounds, rounds.seconds].every((count) => Number.isInteger(count) && count > 0)

if (values.help) print(help)
else if (values.list) for (const { name, about } of rows) print(`${name.padEnd(12)}${about}`)
else if (unknown !== undefined) refuse(`There is no row "${unknown}": --list names them.`)
else if (!isCounted) refuse('--seconds and --rounds take a whole number of 1 or more.')
else if (process.platform !== 'linux') refuse('CPU time and memory are read from /proc, so this takes Linux.')
else if (!hasGenerator()) refuse('wrk sends the load and is not here: on Debian and Ubuntu, "apt-get install wrk".')
else await bench(rows.filter(({ name }) => asked.includes(name)))

function refuse(why: string): void {
  tell(why)
  process.exitCode = 2
}

async function bench(those: readonly Row[]): Promise<void> {
  tell('building, packing and installing the package')
  const packed = installPacked()
  process.on('exit', () => packed.remove())
  const field = openField(packed, rounds, tell)
  const outcomes: Outcome[] = []
  for (const row of those) {
    tell(row.about)
    for (const outcome of await row.measure(field)) {
      tell(`  ${lineOf(outcome)}`)
      outcomes.push(outcome)
    }
  }
  await field.clear()
  print(report(outcomes, rounds))
  if (values.check && !outcomes.every(isReached)) process.exitCode = 1
}
