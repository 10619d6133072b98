import { refusals } from '../../platform/texts/en/refusals.ts'
import { keysOf } from '../../platform/typed.ts'
import type { TextKey } from '../../platform/texts/languages.ts'

/** The key of a text, and the values in its places. */
export type KnownText = { key: TextKey; values: Readonly<Record<string, string>> }

type Pattern = { key: TextKey; names: string[]; pattern: RegExp; literals: number }

type Index = { exact: Map<string, TextKey>; patterns: Pattern[] }

let index: Index | undefined

/**
 * Which text of the refusals an English sentence is. The code that refuses an input writes the sentence, and the API
 * translates it at the edge, as gettext does. Undefined for a sentence that is not in the table.
 */
export function findText(sentence: string): KnownText | undefined {
  const { exact, patterns } = (index ??= indexed())
  const key = exact.get(sentence)
  if (key !== undefined) return { key, values: {} }
  for (const { key: candidate, names, pattern } of patterns) {
    const match = pattern.exec(sentence)
    if (match === null) continue
    const values = Object.fromEntries(names.map((name, at) => [name, match[at + 1] ?? '']))
    const { type } = values
    if (type === undefined || isType(type)) return { key: candidate, values }
  }
  return undefined
}

/** A list of the values that a field accepts, such as `newest, price or name`. */
export const choices = /^[\w-]+(?:, [\w-]+)* or [\w-]+$/

/** Whether a text says what a value must be: a kind of value, one value as JSON, or one of several. */
function isType(text: string): boolean {
  return text.startsWith('"') || choices.test(text) || findText(text)?.key.startsWith('say.type.') === true
}

/** The texts with the most words of their own come first: `{name} is sold out.` before a text that is nearly all values. */
function indexed(): Index {
  const exact = new Map<string, TextKey>()
  const patterns: Pattern[] = []
  for (const key of keysOf(refusals)) {
    const text = refusals[key]
    for (const form of typeof text === 'string' ? [text] : Object.values(text)) {
      const names = [...form.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
      if (names.length === 0) exact.set(form, key)
      else patterns.push({ key, names, pattern: patternOf(form), literals: form.replaceAll(/\{\w+\}/g, '').length })
    }
  }
  return { exact, patterns: patterns.toSorted((a, b) => b.literals - a.literals) }
}

function patternOf(form: string): RegExp {
  const parts = form.split(/\{\w+\}/).map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`))
  return new RegExp(`^${parts.join('([^]+?)')}$`, 'u')
}
