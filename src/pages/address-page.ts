import type { App } from '../app.ts'
import { parseQuery } from '../platform/http/validation.ts'
import { rawTarget } from '../platform/http/request.ts'
import { typedAddressView } from './address-view.ts'
import { readForm } from './read-form.ts'
import type { PageCall, PageReply, PageRoute } from './page.ts'
import { siteOf } from './storefront-settings.ts'
import type { AddressForm } from './storefront/site.ts'

const path = /^\/cart\/address$/

/**
 * The fields of a shipping address, without a page around them: those of a country, and checked by the rules of the
 * hosted page, in the language of the storefront. Nothing is stored. Also without a storefront, because a site that
 * `shopstead create` made from it asks for them, as JSON.
 */
export const addressPages: readonly PageRoute[] = [
  { method: 'GET', path, name: '/cart/address', handle: show },
  { method: 'POST', path, name: '/cart/address', handle: check }
]

/** The form of an address for a visitor, with what was typed; `check` adds what is wrong with it. */
export function addressFormOf(
  app: App,
  request: Request,
  typed: Readonly<Record<string, string>>,
  check: boolean
): AddressForm {
  const languages = request.headers.get('accept-language')
  return typedAddressView(app.db, typed, { check, language: siteOf(app).textLanguage, languages })
}

function show({ app, request }: PageCall): PageReply {
  const { country = '' } = Object.fromEntries(parseQuery(rawTarget(request)))
  return reply(request, addressFormOf(app, request, { country }, false))
}

/** The fields with what was sent, and with status 422 and the errors if it is not valid. */
async function check({ app, request }: PageCall): Promise<PageReply> {
  const typed = Object.fromEntries(await readForm(request))
  return reply(request, addressFormOf(app, request, typed, typed['check'] !== ''))
}

function reply(request: Request, address: AddressForm): PageReply {
  if (request.headers.get('accept') === 'application/json')
    return { text: JSON.stringify(address), type: 'application/json', isPrivate: true }
  const isWrong = [address.countryErrors, ...address.rows.flat().map(({ errors }) => errors)].some(Boolean)
  return {
    status: isWrong ? 422 : 200,
    template: 'shipping',
    title: '',
    data: { address, focus: null, hasScript: true }
  }
}
