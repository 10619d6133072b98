import { notFound } from '../platform/http/answers.ts'
import { markdownHtml } from '../platform/markdown.ts'
import { findLawText, isLawPage, lawPages } from '../shop/settings/law-pages.ts'
import type { PageCall, PageReply, PageRoute } from './page.ts'
import { homeLinks, isOpen, shopPage } from './shop-site.ts'

/** The shop's terms, privacy policy, imprint and information about the right of withdrawal, from its own files. */
export const lawTextPages: readonly PageRoute[] = [
  { method: 'GET', path: new RegExp(`^\\/law\\/(${lawPages.join('|')})$`), name: '/law/:page', handle: show }
]

function show({ app, param }: PageCall): PageReply {
  const text = isLawPage(param) ? findLawText(app, param) : undefined
  if (text === undefined) throw notFound()
  const { title, language, markdown } = text
  const data = { html: markdownHtml(markdown), textLanguage: language, links: homeLinks(app) }
  return shopPage(app, { template: 'law', title, data }, { hasNav: isOpen(app) })
}
