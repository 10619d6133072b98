import { validationFailed } from '../../errors.ts'
import { definedFields } from '../../platform/input-fields.ts'
import { parseWith } from '../../platform/http/validation.ts'
import { emailInput } from '../../shop/accounts/input.ts'
import { checkoutBody } from '../../shop/checkout/input.ts'
import { createPhoneOrder, findNamedItems } from '../../shop/checkout/phone-order.ts'
import { findPickup } from '../../shop/shipping/zones.ts'
import type { ShopCommand, Work } from '../run.ts'
import { answer, parseHold, parseItem } from './order-answer.ts'
import type { Answer } from '../terminal/output.ts'
import { addCommand, assertPublicUrl, runs } from '../run.ts'

const addressParts = ['address1', 'address2', 'postcode', 'city', 'state', 'country'] as const
type AddressOptions = { [Part in (typeof addressParts)[number]]?: string }
type CreateOptions = AddressOptions & {
  email: string
  item: string[]
  firstName?: string
  lastName?: string
  phone?: string
  shippingMethod?: string
  coupon?: string[]
  note?: string
  hold: string
  mail?: true
  ref?: string
}

/** Adds the command that enters an order for a buyer who called or wrote. */
export function defineCreate(group: ShopCommand): void {
  const create = addCommand(
    group,
    'create',
    'enter an order for a buyer, with a link on which they pay it',
    'orders create --email lena@shop.example --item storm-lantern:2 gansey/NAVY-M:1 --mail'
  )
    .requiredOption('--email <email>', "the buyer's email")
    .requiredOption('--item <slug:quantity...>', 'what they order; a variation as SLUG/SKU:QUANTITY')
    .option('--first-name <name>')
    .option('--last-name <name>')
    .option('--phone <number>')
  for (const part of addressParts) create.option(`--${part} <text>`)
  create
    .option(
      '--shipping-method <id>',
      'how to ship it, see "shopstead shipping list"; needs --country, unless the buyer picks it up'
    )
    .option('--coupon <code...>', 'coupon codes')
    .option('--ref <code>', 'the affiliate who is credited, as a link with this ref would')
    .option('--note <text>', 'a note for the order')
    .option('--hold <age>', 'how long it waits for its payment, at most 24h', '24h')
    .option('--mail', 'send the link to the buyer')
  runs(create, createOne)
}

function createOne({ app, options, now }: Work<CreateOptions>): Answer {
  const { firstName, lastName, phone, shippingMethod, coupon, note, hold, mail, ref = null } = options
  assertPublicUrl(app)
  const { email } = parseWith(emailInput, { email: options.email })
  const address = definedFields(Object.fromEntries(addressParts.map((part) => [part, options[part]])))
  const customer = { firstName, lastName, phone }
  const body = parseWith(checkoutBody, {
    items: findNamedItems(
      app.db,
      options.item.map((item) => parseItem('--item', item))
    ),
    customer,
    shippingAddress: Object.keys(address).length === 0 ? undefined : address,
    shippingMethod,
    couponCodes: coupon,
    notes: note
  })
  const isShipped = shippingMethod !== undefined && findPickup(app.db, shippingMethod) === undefined
  if (isShipped && body.shippingAddress?.country === undefined)
    throw validationFailed({ country: ['Is required for --shipping-method.'] })
  const holdMinutes = parseHold(hold)
  const mailed = mail ?? false
  const placed = createPhoneOrder(app, { body, email, holdMinutes, mailed, ref }, now)
  return answer(app, placed.order.id, {
    json: { payUrl: placed.payUrl },
    lines: [
      `Order ${placed.order.id} is created. The buyer pays it at ${placed.payUrl}`,
      ...(mailed && placed.order.paidAt === null ? [`The server sends the link to ${email} within a second.`] : [])
    ]
  })
}
