/**
 * A shop's server in its own process, on the data folder in its first argument; it prints its API root. With a trigger as
 * its second argument (`AFTER INSERT ON orders`), SIGKILL ends it when the trigger runs in its database.
 */
import { startShop } from './running-shop.ts'

const [dataDir = '', moment] = process.argv.slice(2)
const shop = await startShop({ dataDir, seed: null, env: { SHOPSTEAD_PUBLIC_URL: 'http://shop.example' } })
if (moment !== undefined) {
  const { sqlite } = shop.app.db
  sqlite.function('die', () => void process.kill(process.pid, 'SIGKILL'))
  const [when = '', table = ''] = moment.split(' ON ')
  sqlite.exec(`CREATE TEMP TRIGGER deadly ${when} ON main.${table} BEGIN SELECT die(); END`)
}
process.stdout.write(`${shop.apiRoot}\n`)
