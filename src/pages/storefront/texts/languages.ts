import de from './de.ts'
import en from './en.ts'
import { translator } from './translate.ts'
import type { Text, Translate } from './translate.ts'

/** The keys of the texts of the storefront. */
export type TextKey = keyof typeof en

/** The texts of each language. A language is complete, or it does not compile. */
export const languages = { en, de } as const satisfies Record<string, Readonly<Record<TextKey, Text>>>

export type Language = keyof typeof languages

/** The texts for a language tag such as `de-AT`; `lang` is the language that they have. */
export type Texts = { lang: string; textLanguage: Language; t: Translate<TextKey> }

/** The storefront's own texts in a language; in English if it does not have them in that language. */
export function textsIn(tag: string): Texts {
  const [base = ''] = tag.toLowerCase().split('-')
  const language = isLanguage(base) ? base : 'en'
  const lang = isLanguage(base) ? tag : 'en'
  return {
    lang,
    textLanguage: language,
    t: translator<TextKey>(lang, languages[language])
  }
}

function isLanguage(base: string): base is Language {
  return Object.hasOwn(languages, base)
}
