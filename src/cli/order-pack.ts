import { packCsv, packingSlips } from '../operations/packing/pack-list.ts'
import { setting } from '../shop/settings/settings.ts'
import { listOrdersToPack } from '../shop/shipments/pack-list.ts'
import type { OrderToPack } from '../shop/shipments/pack-list.ts'
import type { ShopCommand } from './command.ts'
import { writeCsv, writeNewFile } from './csv-file.ts'
import { JsonList } from './output.ts'
import type { Answer } from './output.ts'
import { addCommand, runs } from './run.ts'
import type { Work } from './run.ts'
import { table } from './table.ts'
import type { Cell } from './table.ts'

type PackOptions = { csv?: string; html?: string }

/** Lists what to ship, as a table, CSV and packing slips. */
export function definePack(group: ShopCommand): void {
  const pack = addCommand(
    group,
    'pack',
    'list what to ship: paid orders with something that is not shipped yet',
    'orders pack --html slips.html'
  )
    .option('--csv <file>', 'write the lines to a new CSV file')
    .option('--html <file>', 'write the packing slips to a new HTML file')
  runs(pack, 'migrated', showPack)
}

function showPack({ app, options }: Work<PackOptions>): Answer {
  const orders = (): Generator<OrderToPack, void> => listOrdersToPack(app.db)
  const { csv, html } = options
  if (csv !== undefined) writeCsv(csv, packCsv(orders()))
  if (html !== undefined) writeNewFile(html, packingSlips(setting(app.db, 'shop.name'), [...orders()]))
  const files = [csv, html].filter((file) => file !== undefined)
  return {
    json: new JsonList('orders', orders()),
    human: [
      table(['Order', 'Paid', 'Line:qty', 'Item', 'Ship to'], orders().flatMap(toRows), 'There is nothing to ship.'),
      ...files.map((file) => `Written to ${file}.`)
    ]
  }
}

function toRows({ id, paidAt, shipTo, lines }: OrderToPack): Cell[][] {
  return lines.map(({ line, name, sku, quantity }, index) => [
    index === 0 ? id : '',
    index === 0 ? (paidAt?.slice(0, 10) ?? '') : '',
    `${line}:${quantity}`,
    sku === null ? name : `${name} (${sku})`,
    index === 0 ? shipTo.join(', ') : ''
  ])
}
