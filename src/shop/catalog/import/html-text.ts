import { createRequire } from 'node:module'
import type sanitizeHtml from 'sanitize-html'

// Named character references that shops use: Latin-1 in code order from 160, and typographic characters.
const latin1 = (
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro ' +
  'para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil ' +
  'Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave ' +
  'Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml ' +
  'igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute ' +
  'thorn yuml'
).split(' ')
const named = new Map<string, string>([
  ...latin1.map((name, index): [string, string] => [name, String.fromCodePoint(160 + index)]),
  ...Object.entries({
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    ndash: '–',
    mdash: '—',
    lsquo: '‘',
    rsquo: '’',
    sbquo: '‚',
    ldquo: '“',
    rdquo: '”',
    bdquo: '„',
    hellip: '…',
    bull: '•',
    euro: '€',
    trade: '™',
    lsaquo: '‹',
    rsaquo: '›',
    dagger: '†',
    permil: '‰',
    prime: '′',
    Prime: '″',
    minus: '−',
    le: '≤',
    ge: '≥',
    ne: '≠',
    infin: '∞',
    rarr: '→',
    larr: '←',
    OElig: 'Œ',
    oelig: 'œ',
    Scaron: 'Š',
    scaron: 'š',
    ensp: ' ',
    emsp: ' ',
    thinsp: ' ',
    zwnj: '',
    zwj: '',
    check: '✓',
    star: '☆',
    hearts: '♥',
    tilde: '˜',
    circ: 'ˆ',
    fnof: 'ƒ'
  })
])

const blockTag =
  /^(?:address|article|aside|blockquote|br|caption|dd|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]|header|hr|li|main|nav|ol|p|pre|section|table|tbody|tfoot|thead|tr|ul)$/
const paragraphTag = /^(?:blockquote|dl|figure|h[1-6]|ol|p|pre|table|ul)$/
const hiddenTag = /^(?:script|style|template|noscript|iframe|object|svg|head|title)$/
// Matching must stay linear. A tag ends at the next angle bracket, so a million `<a` are not scanned repeatedly, and its
// name matches completely or not at all, so a `<` before a million letters does not backtrack.
const markup = /<!--|<(\/?)([a-zA-Z][a-zA-Z0-9]*)(?![a-zA-Z0-9])[^<>]*>/g
const reference = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z][a-zA-Z0-9]{1,31}));/g
// Placeholders for the breaks that tags cause, until white space is collapsed.
const lineBreak = '\u2028'
const paragraphBreak = '\u2029'
const unprintable = /(?![\n\t])[\p{Cc}\u00ad\u200b\ufeff]/gu

/**
 * Converts an HTML description to plain text: block tags end lines, list items get a dash, character references are
 * decoded, scripts, styles and comments are removed. Text without tags keeps its lines. An angle bracket that does not
 * open a tag stays. The result is plain text, not safe HTML: escape it in pages.
 */
export function htmlToText(html: string): string {
  const lines = html.replace(/\r\n?/g, '\n')
  const pieces = splitMarkup(lines)
  const hasBlocks = pieces.some(({ tag }) => tag !== undefined && blockTag.test(tag))
  return pieces
    .map(({ text, tag, closes }) => decode(hasBlocks ? joinLines(text) : text) + breakFor(tag, closes))
    .join('')
    .replace(unprintable, '')
    .replace(/\s+/g, collapse)
    .trim()
}

/** As `htmlToText`, on one line, for names. */
export function htmlToLine(html: string): string {
  return htmlToText(html).replace(/\s+/g, ' ')
}

type Piece = { text: string; tag?: string | undefined; closes?: boolean }

function splitMarkup(html: string): Piece[] {
  const pieces: Piece[] = []
  const pattern = new RegExp(markup)
  let from = 0
  for (let match = pattern.exec(html); match; match = pattern.exec(html)) {
    const tag = match[2]?.toLowerCase()
    pieces.push({ text: html.slice(from, match.index), tag, closes: match[1] === '/' })
    from = endOfHidden(html, pattern.lastIndex, tag, match[1] === '/')
    pattern.lastIndex = from
  }
  pieces.push({ text: html.slice(from) })
  return pieces
}

/** The end of a comment or of an element whose content is not displayed; an unclosed one extends to the end of the text. */
function endOfHidden(html: string, from: number, tag: string | undefined, closes: boolean): number {
  if (tag !== undefined && (closes || !hiddenTag.test(tag))) return from
  const end = tag === undefined ? /-->/g : new RegExp(`</${tag}[^<>]*>`, 'gi')
  end.lastIndex = from
  return end.exec(html) ? end.lastIndex : html.length
}

/** Between block tags a line break is a space, but an empty line still separates paragraphs, as in WordPress. */
function joinLines(text: string): string {
  return text.replace(/\n[^\S\n]*\n\s*/g, paragraphBreak).replace(/\n/g, ' ')
}

function breakFor(tag: string | undefined, closes: boolean | undefined): string {
  if (tag === undefined) return ''
  if (tag === 'br') return '\n'
  if (tag === 'li') return closes ? '' : `${lineBreak}- `
  if (tag === 'td' || tag === 'th') return closes ? ' ' : ''
  if (!blockTag.test(tag)) return ''
  return paragraphTag.test(tag) ? paragraphBreak : lineBreak
}

/** Adjacent breaks become one space, one line end or one empty line. */
function collapse(space: string): string {
  if (space.includes(paragraphBreak) || space.indexOf('\n') !== space.lastIndexOf('\n')) return '\n\n'
  return space.includes('\n') || space.includes(lineBreak) ? '\n' : ' '
}

function decode(text: string): string {
  return text.replace(reference, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return named.get(name) ?? whole
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
    const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
    return isCharacter ? String.fromCodePoint(code) : '\ufffd'
  })
}

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
