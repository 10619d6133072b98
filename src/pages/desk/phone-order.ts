import { definedFields } from '../../platform/input-fields.ts'
import { parseWith } from '../../platform/http/validation.ts'
import { emailInput } from '../../shop/accounts/input.ts'
import { checkoutBody } from '../../shop/checkout/input.ts'
import { createPhoneOrder, findNamedItems } from '../../shop/checkout/phone-order.ts'
import { namedItems, typedItems } from './order-action.ts'
import { commandOf, listOf, refuseField, textOf } from './view.ts'
import type { Action } from './view.ts'

const addressParts = ['address1', 'postcode', 'city', 'state', 'country'] as const
const holdMinutes = 24 * 60

/** An order for a buyer who called or wrote. */
export const phoneOrder: Action = {
  path: /^\/desk\/orders\/new$/,
  name: '/desk/orders/new',
  needs: 'orders.handle',
  form: ({ words }) => {
    const { t } = words
    return {
      title: t('desk.phoneOrder'),
      text: t('desk.phoneOrderText'),
      rows: [
        [{ name: 'email', label: t('email'), type: 'email', required: true }],
        [{ name: 'items', label: t('desk.items'), type: 'long', required: true, hint: t('desk.itemsHint') }],
        [
          { name: 'firstName', label: t('firstName') },
          { name: 'lastName', label: t('lastName') }
        ],
        [{ name: 'address1', label: t('desk.street') }],
        [
          { name: 'postcode', label: t('desk.postcode') },
          { name: 'city', label: t('desk.city') }
        ],
        [
          { name: 'state', label: t('desk.region') },
          { name: 'country', label: t('desk.country'), hint: t('desk.countryHint') }
        ],
        [{ name: 'shippingMethod', label: t('desk.shippingMethod') }],
        [{ name: 'coupons', label: t('coupon'), hint: t('desk.listHint') }],
        [{ name: 'note', label: t('desk.note') }],
        [{ name: 'mail', label: t('desk.sendLink'), type: 'tick' }]
      ],
      submit: t('desk.phoneOrder'),
      back: { label: t('orders'), url: '/desk/orders' }
    }
  },
  command: (_call, form) =>
    commandOf('orders create', {
      email: textOf(form, 'email') ?? 'EMAIL',
      item: form.has('items') ? typedItems(form, 'items') : 'SLUG:QUANTITY',
      'first-name': textOf(form, 'firstName'),
      'last-name': textOf(form, 'lastName'),
      ...Object.fromEntries(addressParts.map((part) => [part, textOf(form, part)])),
      'shipping-method': textOf(form, 'shippingMethod'),
      coupon: listOf(textOf(form, 'coupons')),
      note: textOf(form, 'note'),
      mail: form.has('mail') ? true : undefined
    }),
  run: (call, form) => {
    const { app, now } = call
    const { email } = parseWith(emailInput, { email: textOf(form, 'email') ?? '' })
    const address = definedFields(Object.fromEntries(addressParts.map((part) => [part, textOf(form, part)])))
    const coupons = listOf(textOf(form, 'coupons'))
    const items = namedItems(call, form, 'items')
    if (items.length === 0) throw refuseField('items', call.words.t('desk.itemsHint'))
    const body = parseWith(checkoutBody, {
      items: findNamedItems(app.db, items),
      customer: { firstName: textOf(form, 'firstName'), lastName: textOf(form, 'lastName') },
      shippingAddress: Object.keys(address).length === 0 ? undefined : address,
      shippingMethod: textOf(form, 'shippingMethod'),
      couponCodes: coupons.length === 0 ? undefined : coupons,
      notes: textOf(form, 'note')
    })
    const { order } = createPhoneOrder(app, { body, email, holdMinutes, mailed: form.has('mail'), ref: null }, now)
    return `/desk/orders/${order.id}`
  }
}
