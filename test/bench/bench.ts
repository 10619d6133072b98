/**
 * Measures the packed package against the raw machine, by `npm run bench`. The server has one core and the load another
 * one, where taskset is there; both sides run by turns.
 *
 *     npm run bench                            everything; about ten minutes, and a quiet machine
 *     npm run bench -- --check                 ends with 1 when something misses what it is to reach
 *     npm run bench -- --only me,orders        these rows alone (--list names them)
 *     npm run bench -- --seconds 5 --rounds 5  longer runs, and more of them
 */
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { installPacked } from '../support/packed.ts'
import { generateShop, grown } from './generated-shop.ts'
import type { GeneratedShop, Size } from './generated-shop.ts'
import { hasGenerator } from './measure/load.ts'
import { isPinned } from './measure/machine.ts'
import { checkoutRow } from './rows/checkout.ts'
import { endpointRows } from './rows/endpoints.ts'
import { footprintRows } from './rows/footprint.ts'
import { growthRows } from './rows/growth.ts'
import { installRow } from './rows/install.ts'
import { loginRow } from './rows/login.ts'
import { proxyRow } from './rows/proxy.ts'
import type { Field, Outcome, Row } from './rows/row.ts'
import { openStage } from './stage.ts'
import type { Payments, Stage } from './stage.ts'
import { comparisonTable, figureTable, isNoisy, isReached, lineOf } from './verdict.ts'

/** Those that read come before those that write: both find the shop as it was made. */
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
  --rounds N     how many runs of each side, by turns; at least 3 tell something (3)
  --list         name the rows
`

const print = (line: string): void => void process.stdout.write(`${line}\n`)
const tell = (line: string): void => void process.stderr.write(`${line}\n`)

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

if (values.help) process.stdout.write(help)
else if (values.list) for (const { name, about } of rows) print(`${name.padEnd(14)}${about}`)
else if (hasGenerator()) await bench(chosen(values.only))
else {
  tell(
    'wrk sends the load, and it is not here: "apt-get install wrk" on Debian and Ubuntu, "brew install wrk" on a Mac.'
  )
  process.exitCode = 2
}

function chosen(only: string | undefined): readonly Row[] {
  if (only === undefined) return rows
  const names = only.split(',')
  const unknown = names.find((name) => !rows.some((row) => row.name === name))
  if (unknown !== undefined)
    throw new Error(`There is no row "${unknown}": ${rows.map(({ name }) => name).join(', ')}.`)
  return rows.filter(({ name }) => names.includes(name))
}

async function bench(those: readonly Row[]): Promise<void> {
  tell('building, packing and installing the package')
  const packed = installPacked()
  const { field, close } = openField(packed)
  const outcomes: Outcome[] = []
  try {
    for (const row of those) {
      tell(row.about)
      for (const outcome of await row.measure(field)) {
        tell(`  ${lineOf(outcome)}`)
        outcomes.push(outcome)
      }
    }
  } finally {
    await close()
    packed.remove()
  }
  report(outcomes)
}

function report(outcomes: readonly Outcome[]): void {
  const where = isPinned
    ? 'server and load on a core each'
    : 'nothing pinned to a core: taskset or a second core is missing'
  print(`Node.js ${process.version}, ${cpus().length} × ${cpus()[0]?.model.trim()}; ${where}.`)
  print(
    `Medians of ${values.rounds} runs of ${values.seconds} s by turns; pairs are Shopstead / what it stands beside.\n`
  )
  if (outcomes.some(({ kind }) => kind === 'comparison')) print(`${comparisonTable(outcomes)}\n`)
  if (outcomes.some(({ kind }) => kind === 'figure')) print(`${figureTable(outcomes)}\n`)
  const noisy = outcomes.filter(isNoisy)
  if (noisy.length > 0)
    print(
      `The machine was too noisy to tell: ${noisy.map(({ name }) => name).join('; ')}. Runs of one side are over 20 % apart.`
    )
  const missed = outcomes.filter((outcome) => !isReached(outcome))
  print(`${outcomes.length - missed.length} of ${outcomes.length} reached.`)
  if (values.check && missed.length > 0) process.exitCode = 1
}

function openField(packed: Field['packed']): { field: Field; close(): Promise<void> } {
  const shops = new Map<Size, GeneratedShop>()
  let open: { payments: Payments; stage: Stage } | undefined
  const field: Field = {
    packed,
    rounds: { rounds: Number(values.rounds), seconds: Number(values.seconds), connections: 32 },
    async shopOf(size) {
      const known = shops.get(size)
      if (known !== undefined) return known
      tell(
        `making a shop of ${Object.entries(size)
          .map(([what, many]) => `${many.toLocaleString('en')} ${what}`)
          .join(', ')}`
      )
      const made = await generateShop(packed, size)
      shops.set(size, made)
      return made
    },
    async stage(payments) {
      if (open?.payments === payments) return open.stage
      await field.clear()
      const stage = await openStage(packed, await field.shopOf(grown), payments)
      open = { payments, stage }
      return stage
    },
    async clear() {
      await open?.stage.end()
      open = undefined
    },
    tell
  }
  const close = async (): Promise<void> => {
    await field.clear()
    for (const shop of shops.values()) shop.remove()
  }
  return { field, close }
}
