/**
 * Measures the lists of the command line in a shop with 100,000 rows of each kind, as text and as JSON: the CPU time of
 * the process, the most memory that it used, and how much more that is than with a hundred rows. Exits with 1 when a list
 * takes over two seconds.
 * Usage: node test/bench/lists.ts [ROWS] [bin/shopstead.js of a package]
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { openDatabase } from '../../src/platform/db/database.ts'
import { migrateDatabase } from '../../src/platform/db/migrate.ts'
import { fillLists } from '../support/long-lists.ts'
import { temporaryFolder } from './temporary-folder.ts'

const [, , count = '100000', program = 'bin/shopstead.js'] = process.argv
const rows = Number(count)
const fewRows = 100
const mostSeconds = 2
const most = String(Math.min(rows, 99_999))

const lists = [
  ['offers', 'list'],
  ['coupons', 'list'],
  ['affiliates', 'list'],
  ['affiliates', 'list', '--status', 'active'],
  ['referrals', 'export'],
  ['referrals', 'export', '--status', 'unpaid'],
  ['orders', 'export'],
  ['orders', 'pack'],
  ['orders', 'warnings'],
  ['orders', 'warnings', '--kind', 'dispute'],
  ['events', 'list', '--limit', most],
  ['events', 'list', '--from', '1970-01-01'],
  ['webhooks', 'deliveries', '--limit', most],
  ['webhooks', 'deliveries', '--limit', most, '--state', 'delivered'],
  ['report', 'stock', '--all'],
  ['users', 'list', '--limit', '1000'],
  ['orders', 'list', '--limit', '1000'],
  ['referrals', 'list', '--limit', '1000'],
  ['users', 'list', '--search', 'unknown'],
  ['orders', 'list', '--search', 'unknown'],
  ['offers', 'list', '--search', 'unknown']
]

/** Prints what the process used when it ends, on a stream of its own. */
const meter = `data:text/javascript,import{writeSync}from'node:fs';process.on('exit',()=>{const{userCPUTime:u,systemCPUTime:s,maxRSS:m}=process.resourceUsage();writeSync(3,JSON.stringify({seconds:(u+s)/1e6,megabytes:m/1024}))})`

function shopWith(count: number): string {
  const dataDir = temporaryFolder('lists')
  const db = openDatabase(join(dataDir, 'shopstead.db'))
  migrateDatabase(db)
  db.sqlite.pragma('synchronous = OFF')
  fillLists(db.sqlite, count)
  db.sqlite.close()
  return dataDir
}

function measure(dataDir: string, args: readonly string[]): { seconds: number; megabytes: number } {
  const argv = ['--import', meter, program, ...args, '--data-dir', dataDir]
  const { output, stderr } = spawnSync(process.execPath, argv, {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    encoding: 'utf8'
  })
  if (!output[3]) throw new Error(`${args.join(' ')}: ${stderr}`)
  return JSON.parse(output[3]) as { seconds: number; megabytes: number }
}

const [long, short] = [shopWith(rows), shopWith(fewRows)]
process.stdout.write(`${'list'.padEnd(46)}  CPU s  memory MB  more MB\n`)
for (const words of lists) {
  for (const args of [words, [...words, '--json']]) {
    const { seconds, megabytes } = measure(long, args)
    const more = megabytes - measure(short, args).megabytes
    const cells = [seconds.toFixed(2).padStart(5), megabytes.toFixed(0).padStart(9), more.toFixed(0).padStart(7)]
    const isSlow = seconds > mostSeconds
    process.stdout.write(`${args.join(' ').padEnd(46)}  ${cells.join('  ')}${isSlow ? '  too slow' : ''}\n`)
    if (isSlow) process.exitCode = 1
  }
}
