/** An element of XML, with its text escaped. */
export type Xml = { readonly markup: string }

/**
 * An element. Names and attributes are those of a format, never those of a user.
 *
 * @param content its text, or the elements in it; null stands for none
 */
export function element(
  name: string,
  content: string | readonly (Xml | null)[],
  attributes: Readonly<Record<string, string>> = {}
): Xml {
  const inner =
    typeof content === 'string'
      ? escaped(content)
      : content.map((child) => (child === null ? '' : child.markup)).join('')
  const named = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${escaped(value).replaceAll('"', '&quot;')}"`
  )
  return { markup: `<${name}${named.join('')}>${inner}</${name}>` }
}

/** An element, or null if it would be empty: a text of spaces, or no elements. */
export function filled(
  name: string,
  content: string | null | readonly (Xml | null)[],
  attributes: Readonly<Record<string, string>> = {}
): Xml | null {
  if (content === null) return null
  const isEmpty = typeof content === 'string' ? content.trim() === '' : content.every((child) => child === null)
  return isEmpty ? null : element(name, content, attributes)
}

/** What a file in XML begins with. */
export const xmlHead = '<?xml version="1.0" encoding="UTF-8"?>\n'

// XML 1.0 has no form for other control characters and lone surrogates (2.2).
const impossible = /(?![\t\n\r])\p{Cc}|[\uFFFE\uFFFF]/gu

function escaped(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(impossible, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
}
