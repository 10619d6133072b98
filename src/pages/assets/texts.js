import { translator } from '../storefront/texts/translate.ts'

/** The page names the file with the texts of its language. */
const { default: texts } = await import(document.body.dataset.texts ?? '')

/**
 * A text of the storefront in the language of the page.
 *
 * @type {import('../storefront/texts/translate.ts').Translate<keyof typeof import('../storefront/texts/scripts-en.ts').default>}
 */
export const t = translator(document.documentElement.lang, texts)

/**
 * A text whose values are elements, as the children of an element.
 *
 * @param {Parameters<typeof t>[0]} key
 * @param {Readonly<Record<string, Node>>} nodes
 */
export function withNodes(key, nodes) {
  const names = Object.fromEntries(Object.keys(nodes).map((name) => [name, `\0${name}\0`]))
  return t(key, names)
    .split('\0')
    .map((part, at) => (at % 2 === 0 ? part : nodes[part]))
}
