/**
 * A process that tries repeatedly to take the last unit of each product and the last use of each coupon. It starts on the
 * message `go` and answers with how often it got each.
 */
import { openDatabase, write } from '../../../../src/platform/db/database.ts'
import { takeUse } from '../../../../src/shop/catalog/coupons.ts'
import { takeStock } from '../../../../src/shop/catalog/stock.ts'

const [file = '', rounds = '0', attempts = '0'] = process.argv.slice(2)
const db = openDatabase(file, { mustExist: true })

process.once('message', () => {
  const units: number[] = []
  const uses: number[] = []
  for (let id = 1; id <= Number(rounds); id += 1) {
    units.push(wins(() => write(db, (tx) => takeStock(tx, { productId: id, variationId: null }, 1))))
    uses.push(wins(() => write(db, (tx) => takeUse(tx, id))))
  }
  db.sqlite.close()
  process.send?.({ units, uses }, () => process.disconnect())
})
process.send?.('ready')

function wins(attempt: () => boolean): number {
  let won = 0
  for (let index = 0; index < Number(attempts); index += 1) if (attempt()) won += 1
  return won
}
