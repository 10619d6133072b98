import { createRequire } from 'node:module'
import type sanitizeHtml from 'sanitize-html'
import { htmlToText } from './html-text.ts'

/** Text with structure and links. Pictures, styles, scripts, forms and embedded pages are removed. */
const options: sanitizeHtml.IOptions = {
  allowedTags: (
    'p br hr div h2 h3 h4 h5 h6 blockquote pre code ul ol li dl dt dd table caption thead tbody tfoot tr th td ' +
    'a b strong i em u s del ins small sub sup mark abbr cite q'
  ).split(' '),
  allowedAttributes: { a: ['href'], th: ['colspan', 'rowspan'], td: ['colspan', 'rowspan'] },
  allowedSchemes: ['http', 'https', 'mailto', 'tel'],
  allowProtocolRelative: false,
  nonTextTags: [
    'script',
    'style',
    'textarea',
    'option',
    'noscript',
    'template',
    'title',
    'iframe',
    'object',
    'svg',
    'math'
  ],
  // A page has one main heading, the product's name.
  transformTags: { h1: 'h2' },
  nestingLimit: 50
}

let loaded: typeof sanitizeHtml | undefined

/** Loads the library when an import first needs it: a server never does. */
function sanitizer(): typeof sanitizeHtml {
  loaded ??= createRequire(import.meta.url)('sanitize-html') as typeof sanitizeHtml
  return loaded
}

/**
 * The part of an HTML description that pages can show as it is. Null if that has only lines and paragraphs, which the
 * plain text has, too. Links keep only http, https, mailto and tel addresses.
 */
export function toSafeHtml(html: string): string | null {
  if (!/<[a-z]/i.test(html)) return null
  const safe = sanitizer()(html, options).trim()
  return /<(?!(?:p|br|div)\b)[a-z]/i.test(safe) && htmlToText(safe) !== '' ? safe : null
}

export const embeddedIsIgnored = 'Pictures, videos and forms in a description are not imported'

/** Whether a description contains a part that `toSafeHtml` removes and that buyers would miss. */
export function hasEmbedded(html: string): boolean {
  return /<(?:img|picture|video|audio|iframe|embed|object|form)\b/i.test(html)
}

const startsBlock = /^<\/?(?:p|div|h[1-6]|ul|ol|li|dl|dt|dd|table|thead|tbody|tr|td|th|blockquote|pre|hr|figure)\b/i

/** HTML as WordPress shows it: empty lines separate paragraphs, and other line breaks stay. */
export function withParagraphs(html: string): string {
  if (/<p[\s>]/i.test(html)) return html
  const parts = html.split(/\n[^\S\n]*\n\s*/).map((part) => part.trim())
  return parts
    .filter((part) => part !== '')
    .map((part) => (startsBlock.test(part) ? part : `<p>${part.replaceAll('\n', '<br>')}</p>`))
    .join('\n')
}
