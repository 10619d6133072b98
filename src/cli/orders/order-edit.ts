import { parseWith } from '../../platform/http/validation.ts'
import { definedFields } from '../../platform/input-fields.ts'
import { changeOrder } from '../../shop/corrections/change-order.ts'
import { buyerEdits } from '../../shop/corrections/edit-order.ts'
import type { BuyerEdits } from '../../shop/corrections/edit-order.ts'
import { findNamedItems } from '../../shop/checkout/phone-order.ts'
import { getOrder } from '../../shop/orders/find.ts'
import type { ShopCommand, Work } from '../run.ts'
import { addCommand, runs } from '../run.ts'
import { parseId } from '../terminal/arguments.ts'
import { plain } from '../terminal/table.ts'
import type { Answer } from '../terminal/output.ts'
import { answer, by, parseItem, parseLine, parseLineQuantity } from './order-answer.ts'

type EditOptions = { [Field in keyof BuyerEdits]?: string } & { line?: string[]; remove?: string[]; add?: string[] }

const texts = ['first-name', 'last-name', 'company', 'phone'] as const
const places = ['address1', 'address2', 'postcode', 'city', 'state', 'country'] as const

/** Adds the command that corrects an order after it was placed. */
export function defineEdit(group: ShopCommand): void {
  const edit = addCommand(
    group,
    'edit <id>',
    'correct the buyer, the address, the shipping or the lines of an order; the buyer gets an email with old and new',
    'orders edit 12 --city Kiel --line 1:3 --remove 2 --add gansey/NAVY-M:1'
  ).option('--email <email>', "the buyer's email")
  for (const name of texts) edit.option(`--${name} <text>`, 'an empty text removes it')
  for (const name of places) edit.option(`--${name} <text>`, 'where it is shipped to')
  edit.option('--shipping-method <id>', 'how it is shipped, see "shopstead shipping list"')
  edit
    .option('--line <line:quantity...>', 'another quantity of these lines, by number')
    .option('--remove <line...>', 'lines to remove, by number')
    .option('--add <slug:quantity...>', 'what else is ordered; a variation as SLUG/SKU:QUANTITY')
  runs(edit, editOne)
}

async function editOne({ app, options }: Work<EditOptions>, text: string): Promise<Answer> {
  const id = parseId(text)
  const { email, firstName, lastName, company, phone, shippingMethod, ...others } = options
  const { address1, address2, postcode, city, state, country } = others
  const typed = { email, firstName, lastName, company, phone, shippingMethod }
  const place = { address1, address2, postcode, city, state, country }
  const buyer = parseWith(buyerEdits, definedFields({ ...typed, ...place }))
  const { line = [], remove = [], add = [] } = options
  const lines = [
    ...line.map((each) => parseLineQuantity('--line', each)),
    ...remove.map((number) => ({ line: parseLine(number), quantity: 0 }))
  ]
  const items = findNamedItems(
    app.db,
    add.map((item) => parseItem('--add', item))
  )
  const changed = await changeOrder(app, id, { buyer, lines, add: items }, by)
  const { email: recipient } = getOrder(app.db, id)
  const told = recipient === null ? [] : [`The server tells ${plain(recipient)} within a second.`]
  return answer(app, id, {
    json: { changed },
    lines: changed.length === 0 ? [`Order ${id} has all of this already.`] : [`Order ${id} is changed.`, ...told]
  })
}
