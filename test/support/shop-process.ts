/**
 * A shop's server as a process of its own, on the data folder that is its argument; it prints its api root. With a second
 * argument (`AFTER INSERT ON orders`) it dies by SIGKILL the moment that happens in its database.
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
