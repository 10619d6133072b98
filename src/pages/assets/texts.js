import { translator } from '../storefront/texts/translate.ts'

/** The page names the file with the texts of its language. */
const { default: texts } = await import(document.body.dataset.texts ?? '')

/**
 * A text of the storefront in the language of the page.
 *
 * @type {import('../storefront/texts/translate.ts').Translate<keyof typeof import('../storefront/texts/scripts-en.ts').default>}
 */
export const t = translator(document.documentElement.lang, texts)
