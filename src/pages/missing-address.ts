import { countryName } from '../platform/postal/countries.ts'
import { messageFor, toFieldErrors } from '../platform/http/validation.ts'
import { z } from 'zod'
import type { FieldErrors } from '../errors.ts'
import { nameField, optionalLine } from '../shop/accounts/fields.ts'
import { giveAddress } from '../shop/checkout/buyer-order.ts'
import { mayChange } from '../shop/checkout/order-visitor.ts'
import { addressInput } from '../shop/checkout/address-rules.ts'
import { addressPath, waitsForAddress } from '../shop/orders/address.ts'
import { getOrderByPublicToken } from '../shop/orders/find.ts'
import { setting } from '../shop/settings/settings.ts'
import { translateDetails } from '../shop/settings/translate.ts'
import { addressView } from './address-form.ts'
import { fieldErrors } from './draft.ts'
import { donePath } from './order-page.ts'
import { readForm } from './page.ts'
import { provePath, visitorOf } from './prove-page.ts'
import type { PageCall, PageReply, PageRoute } from './page.ts'
import { shopPage, siteOf } from './shop-site.ts'
import { formView, sheet } from './storefront/form-view.ts'

const path = /^\/checkout\/address\/([A-Za-z0-9_-]{1,100})$/
const name = '/checkout/address/:token'

/** The page on which the buyer of a paid order says where to ship it, if the checkout did not (checkout.missingAddress). */
export const missingAddressPages: readonly PageRoute[] = [
  { method: 'GET', path, name, handle: (call) => show(call) },
  { method: 'POST', path, name, handle: take }
]

function show(call: PageCall, typed?: Record<string, string>, refused: FieldErrors = {}): PageReply {
  const { app, param, now } = call
  const order = getOrderByPublicToken(app.db, param)
  if (!waitsForAddress(order)) return { redirect: donePath(order) }
  if (!mayChange(app, order, visitorOf(call, order), now)) return { redirect: provePath(order, 'address') }
  const site = siteOf(app)
  const { t, textLanguage } = site
  const country = setting(app.db, 'shop.country')
  const known = { values: typed ?? { ...order.contact }, errors: refused }
  const offered = [{ code: country, name: countryName(country, textLanguage) }]
  const rows = [
    [
      { name: 'firstName', label: t('optional', { label: t('firstName') }), autocomplete: 'given-name' },
      { name: 'lastName', label: t('lastNameOrCompany'), autocomplete: 'family-name', required: true }
    ]
  ]
  const addressForm = addressView(app.db, country, known, textLanguage, offered)
  const blank = { action: 'address', submit: t('order.saveAddress'), rows, to: addressPath(order), addressForm }
  const form = formView(blank, { refused, ...(typed === undefined ? {} : { typed }) }, known.values)
  const links = [{ label: t('yourOrder'), url: donePath(order) }]
  const status = typed === undefined ? 200 : 422
  return shopPage(app, sheet(status, t('order.whereTo'), { text: t('order.whereToText'), form, links }), {}, site)
}

async function take(call: PageCall): Promise<PageReply> {
  const { app, request, param, now } = call
  const order = getOrderByPublicToken(app.db, param)
  if (!waitsForAddress(order)) return { redirect: donePath(order) }
  const visitor = visitorOf(call, order)
  if (!mayChange(app, order, visitor, now)) return { redirect: provePath(order, 'address') }
  const typed = Object.fromEntries(await readForm(request))
  const names = z
    .object({ firstName: optionalLine(100), lastName: nameField(100) })
    .safeParse(typed, { error: messageFor })
  const country = setting(app.db, 'shop.country')
  const address = addressInput([country], siteOf(app).textLanguage).safeParse({ ...typed, country })
  if (!names.success || !address.success) {
    const issues = [...(names.error?.issues ?? []), ...(address.error?.issues ?? [])]
    const { fieldErrors: said } = translateDetails(app, { fieldErrors: toFieldErrors({ issues }) })
    return show(call, typed, fieldErrors.parse(said))
  }
  await giveAddress(app, param, { ...address.data, ...names.data }, visitor)
  return { redirect: donePath(order) }
}
