/** A text, or one for a single thing and one for several. `{name}` stands for a value. */
export type Text = string | { readonly one: string; readonly other: string }

export type Values = Readonly<Record<string, string | number>>

export type Translate<Key extends string> = (key: Key, values?: Values) => string

/** The texts of a language by their keys. `count` decides between one and several. */
export function translator<Key extends string>(language: string, texts: Readonly<Record<Key, Text>>): Translate<Key> {
  const plural = new Intl.PluralRules(language)
  return (key, values = {}) => {
    const text = texts[key]
    const isOne = plural.select(Number(values['count'])) === 'one'
    const chosen = typeof text === 'string' ? text : isOne ? text.one : text.other
    return chosen.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''))
  }
}
