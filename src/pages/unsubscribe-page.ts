import { findSubscriber, unsubscribe } from '../shop/accounts/marketing.ts'
import type { PageCall, PageReply, PageRoute } from './page.ts'
import { homeLinks, shopPage, siteOf } from './shop-site.ts'
import { formView, message, sheet } from './storefront/form-view.ts'

const path = /^\/unsubscribe\/([\w.-]{1,100})$/
const name = '/unsubscribe/:token'

/**
 * Where a person ends the news by email without a login. A mailbox that knows List-Unsubscribe-Post sends the form by
 * itself (RFC 8058), so the form is not read and the answer does not depend on a cookie.
 */
export const unsubscribePages: readonly PageRoute[] = [
  { method: 'GET', path, name, handle: show },
  { method: 'POST', path, name, handle: end }
]

function show(call: PageCall): PageReply {
  const user = findSubscriber(call.app, call.param)
  if (user === undefined) return unknown(call)
  if (user.marketingOptIn === 'no') return done(call)
  const { t } = siteOf(call.app)
  const blank = { action: 'end', submit: t('news.end'), rows: [], to: `/unsubscribe/${call.param}` }
  return shopPage(call.app, sheet(200, t('news.title'), { text: t('news.text'), form: formView(blank, {}), links: [] }))
}

async function end(call: PageCall): Promise<PageReply> {
  return (await unsubscribe(call.app, call.param, call.now)) ? done(call) : unknown(call)
}

function done(call: PageCall): PageReply {
  const { t } = siteOf(call.app)
  return shopPage(call.app, message(t('news.ended'), t('news.endedText'), homeLinks(call.app)))
}

function unknown(call: PageCall): PageReply {
  const { t } = siteOf(call.app)
  return shopPage(call.app, message(t('emailLink.over'), t('news.unknown'), homeLinks(call.app), 410))
}
