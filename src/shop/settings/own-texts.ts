import { isUtf8 } from 'node:buffer'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import { listFolder } from '../../platform/files.ts'
import { isLanguage, isTextKey, languages } from '../../platform/texts/languages.ts'
import type { Language, Replaced, Text, TextKey } from '../../platform/texts/languages.ts'
import { isObject } from '../../platform/typed.ts'

/** The texts that the operator replaced, by language, and what is wrong with the files. A wrong text is not used. */
export type OwnTexts = {
  texts: Partial<Record<Language, Replaced>>
  problems: { file: string; problem: string }[]
}

const longestBytes = 1_000_000
const longestText = 5000

/** The folder with the texts of the operator, a file for each language, such as `de.json`. */
export function textFolder(dataDir: string): string {
  return join(dataDir, 'texts')
}

const known = new Map<string, OwnTexts>()

/** The texts of the operator as they were at the start of the process. */
export function ownTexts(dataDir: string): OwnTexts {
  const read = known.get(dataDir) ?? readOwnTexts(dataDir)
  known.set(dataDir, read)
  return read
}

/**
 * Reads the texts of the operator for a server that starts.
 *
 * @throws AppError CONFIG_INVALID naming the texts that cannot be used
 */
export function requireOwnTexts(dataDir: string): void {
  const own = readOwnTexts(dataDir)
  known.set(dataDir, own)
  if (own.problems.length === 0) return
  const named = own.problems.map(({ file, problem }) => `${file} ${problem}`).join('; ')
  throw new AppError('CONFIG_INVALID', `Texts in ${textFolder(dataDir)} cannot be used: ${named}.`)
}

/** Reads the texts of the operator. It does not throw. */
export function readOwnTexts(dataDir: string): OwnTexts {
  const own: OwnTexts = { texts: {}, problems: [] }
  for (const file of listFolder(textFolder(dataDir)).toSorted()) {
    if (file.startsWith('.')) continue
    const language = file.replace(/\.json$/, '')
    const read =
      file.endsWith('.json') && isLanguage(language)
        ? readTexts(join(textFolder(dataDir), file), language)
        : {
            texts: {},
            problems: [
              `is not one of ${Object.keys(languages)
                .map((each) => `${each}.json`)
                .join(', ')}`
            ]
          }
    if (isLanguage(language)) own.texts[language] = read.texts
    own.problems.push(...read.problems.map((problem) => ({ file, problem })))
  }
  return own
}

type Read = { texts: Partial<Record<TextKey, Text>>; problems: string[] }

function readTexts(path: string, language: Language): Read {
  const read: Read = { texts: {}, problems: [] }
  const content = parse(path)
  if (typeof content === 'string') return { ...read, problems: [content] }
  for (const [key, text] of Object.entries(content)) {
    const problem = isTextKey(key) ? problemOf(text, languages[language][key]) : 'is not the key of a text'
    if (problem === null && isTextKey(key)) read.texts[key] = text as Text
    else read.problems.push(`"${key.slice(0, 100)}" ${problem}`)
  }
  return read
}

/** The object in a file, or why there is none. */
function parse(path: string): Record<string, unknown> | string {
  try {
    const stat = statSync(path)
    if (!stat.isFile()) return 'is not a file'
    if (stat.size > longestBytes) return `is longer than ${longestBytes} bytes`
    const bytes = readFileSync(path)
    if (!isUtf8(bytes)) return 'is not UTF-8 text'
    const content: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return isObject(content) && !Array.isArray(content) ? content : 'is not a JSON object of texts by key'
  } catch (error) {
    return error instanceof SyntaxError ? 'is not valid JSON' : `cannot be read: ${String(error)}`
  }
}

/** Why a value cannot replace a text; null if it can. It may have only the placeholders of the text that it replaces. */
function problemOf(value: unknown, text: Text): string | null {
  const forms = typeof text === 'string' ? null : Object.keys(text)
  if (forms === null && typeof value !== 'string') return 'must be a text'
  if (forms !== null && !(isObject(value) && sameNames(Object.keys(value), forms)))
    return `must have the texts ${forms.join(' and ')}`
  const parts = isObject(value) ? Object.values(value) : [value]
  const allowed = new Set(placeholders(...(typeof text === 'string' ? [text] : Object.values(text))))
  for (const part of parts) {
    if (typeof part !== 'string') return 'must be a text'
    if (part.trim() === '') return 'is empty'
    if (part.length > longestText) return `is longer than ${longestText} characters`
    const foreign = placeholders(part).find((name) => !allowed.has(name))
    if (foreign !== undefined) return `has the unknown placeholder {${foreign}}`
    if (/[{}]/.test(part.replaceAll(/\{\w+\}/g, ''))) return 'has a placeholder that is not closed'
  }
  return null
}

function sameNames(some: readonly string[], others: readonly string[]): boolean {
  return some.toSorted().join() === others.toSorted().join()
}

function placeholders(...texts: readonly string[]): string[] {
  return texts.flatMap((text) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name))
}
