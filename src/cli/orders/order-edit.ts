import { parseWith } from '../../platform/http/validation.ts'
import { definedFields } from '../../platform/input-fields.ts'
import type { App } from '../../app.ts'
import { formatMoney, toMajor } from '../../platform/money.ts'
import { changeOrder, planChange } from '../../shop/corrections/change-order.ts'
import type { OrderEdits } from '../../shop/corrections/change-order.ts'
import { buyerEdits } from '../../shop/corrections/edit-order.ts'
import type { BuyerEdits } from '../../shop/corrections/edit-order.ts'
import { findNamedItems } from '../../shop/checkout/phone-order.ts'
import { getOrder } from '../../shop/orders/find.ts'
import type { ShopCommand, Work } from '../run.ts'
import { addCommand, assertPublicUrl, confirmOrRefuse, runs } from '../run.ts'
import { parseId } from '../terminal/arguments.ts'
import { plain } from '../terminal/table.ts'
import type { Answer } from '../terminal/output.ts'
import {
  additionLines,
  additionView,
  answer,
  by,
  parseHold,
  parseItem,
  parseLine,
  parseLineQuantity,
  refundLines
} from './order-answer.ts'

type EditOptions = { [Field in keyof BuyerEdits]?: string } & {
  line?: string[]
  remove?: string[]
  add?: string[]
  hold: string
  yes?: boolean
}

const texts = ['first-name', 'last-name', 'company', 'phone'] as const
const places = ['address1', 'address2', 'postcode', 'city', 'state', 'country'] as const

/** Adds the command that corrects an order after it was placed. */
export function defineEdit(group: ShopCommand): void {
  const edit = addCommand(
    group,
    'edit <id>',
    'correct the buyer, the address, the shipping or the lines of an order; the buyer gets an email with the old and the new details',
    'orders edit 12 --city Kiel --line 1:3 --remove 2 --add gansey/NAVY-M:1'
  ).option('--email <email>', "the buyer's email")
  for (const name of texts) edit.option(`--${name} <text>`, 'an empty text removes it')
  for (const name of places) edit.option(`--${name} <text>`, 'where it is shipped to')
  edit.option('--shipping-method <id>', 'how it is shipped, see "shopstead shipping list"')
  edit
    .option('--line <line:quantity...>', 'another quantity of these lines, by number')
    .option('--remove <line...>', 'lines to remove, by number')
    .option('--add <slug:quantity...>', 'what else is ordered; a variation as SLUG/SKU:QUANTITY')
    .option('--hold <age>', 'how long what is added to a paid order waits for its payment, at most 24h', '24h')
    .option('--yes', 'do not ask for confirmation')
  runs(edit, editOne)
}

async function editOne({ app, options, terminal }: Work<EditOptions>, text: string): Promise<Answer> {
  const id = parseId(text)
  const edits = parseEdits(app, options)
  const { paidAt, currency } = getOrder(app.db, id)
  const money = (minor: number): string => formatMoney(minor, currency)
  const plan = paidAt === null ? null : planChange(app, id, edits, by)
  if (plan !== null && plan.addition !== null) assertPublicUrl(app)
  if (plan !== null && plan.refundMinor > 0)
    await confirmOrRefuse(terminal, `Change order ${id} and give back ${money(plan.refundMinor)}?`, options)
  const change = await changeOrder(app, id, edits, by)
  const { fields, refundMinor } = change
  const order = getOrder(app.db, id)
  const addition = change.addition === null ? null : getOrder(app.db, change.addition.id)
  return answer(app, id, {
    json: {
      changed: fields,
      addition: addition === null ? null : additionView(app, addition),
      refunded: toMajor(refundMinor, currency)
    },
    lines:
      fields.length === 0
        ? [`Order ${id} has all of this already.`]
        : [
            `Order ${id} is changed. The server tells ${plain(order.email ?? 'the buyer')} within a second.`,
            ...(addition === null ? [] : additionLines(app, addition)),
            ...refundLines(order, change)
          ]
  })
}

function parseEdits(app: App, options: EditOptions): OrderEdits {
  const { email, firstName, lastName, company, phone, shippingMethod, ...others } = options
  const { address1, address2, postcode, city, state, country, line = [], remove = [], add = [] } = others
  const typed = { email, firstName, lastName, company, phone, shippingMethod }
  const place = { address1, address2, postcode, city, state, country }
  const items = findNamedItems(
    app.db,
    add.map((item) => parseItem('--add', item))
  )
  return {
    buyer: parseWith(buyerEdits, definedFields({ ...typed, ...place })),
    lines: [
      ...line.map((each) => parseLineQuantity('--line', each)),
      ...remove.map((number) => ({ line: parseLine(number), quantity: 0 }))
    ],
    add: items,
    holdMinutes: parseHold(options.hold)
  }
}
