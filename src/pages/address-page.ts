import { parseQuery } from '../platform/http/query.ts'
import { rawTarget } from '../platform/http/node-request.ts'
import { toFieldErrors } from '../platform/http/zod-errors.ts'
import { addressInput } from '../shop/checkout/address-input.ts'
import { shipToCountries } from '../shop/checkout/ship-to.ts'
import { addressView, likelyCountry } from './address-view.ts'
import { readForm } from './read-form.ts'
import type { PageCall, PageReply, PageRoute } from './page.ts'
import { siteOf } from './storefront-settings.ts'

const path = /^\/cart\/address$/

/**
 * The fields of a shipping address for the cart's script, without a page around them: those of a country, and checked by
 * the rules of the hosted page, in the language of the storefront. Nothing is stored. Also without a storefront, because a
 * site that `shopstead create` made from it asks for them.
 */
export const addressPages: readonly PageRoute[] = [
  { method: 'GET', path, name: '/cart/address', handle: show },
  { method: 'POST', path, name: '/cart/address', handle: check }
]

function show({ app, request }: PageCall): PageReply {
  const asked = parseQuery(rawTarget(request)).get('country') ?? undefined
  const country = likelyCountry(app.db, [asked], request.headers.get('accept-language'))
  return fields(200, addressView(app.db, country, { values: {}, errors: {} }, siteOf(app).textLanguage))
}

/** The fields with the address as it is stored, or with status 422 and the errors. */
async function check({ app, request }: PageCall): Promise<PageReply> {
  const values = Object.fromEntries(await readForm(request))
  const { textLanguage } = siteOf(app)
  const parsed = addressInput(shipToCountries(app.db), textLanguage).safeParse(values)
  if (!parsed.success) {
    const errors = toFieldErrors(parsed.error)
    return fields(422, addressView(app.db, values['country'] ?? '', { values, errors }, textLanguage))
  }
  const { country = '', ...address } = parsed.data
  return fields(200, addressView(app.db, country, { values: { ...address }, errors: {} }, textLanguage))
}

function fields(status: number, address: ReturnType<typeof addressView>): PageReply {
  return { status, template: 'shipping', title: '', data: { address, focus: null, hasScript: true } }
}
