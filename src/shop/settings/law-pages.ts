import { isUtf8 } from 'node:buffer'
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { validationFailed } from '../../errors.ts'
import type { Config } from '../../platform/config/config.ts'
import type { Db } from '../../platform/db/database.ts'
import { listFolder, syncFolderOf, syncToDisk, unfinishedPath } from '../../platform/files.ts'
import { assetPath } from '../../platform/package-root.ts'
import { baseOf, isLanguage, languages } from '../../platform/texts/languages.ts'
import type { Language } from '../../platform/texts/languages.ts'
import { codeOf, keysOf } from '../../platform/typed.ts'
import { languageOf, offeredLanguages, wordsOf } from './language.ts'
import { sellerText } from './seller.ts'
import { setting } from './settings.ts'

type Shop = { readonly db: Db; readonly config: Pick<Config, 'dataDir'>; readonly language?: string }

/** The texts that the law asks of a shop: the label of their links, and the setting with the address of a page elsewhere. */
const pages = {
  terms: { label: 'terms', setting: 'storefront.termsUrl' },
  withdrawal: { label: 'withdrawalInfo', setting: 'storefront.withdrawalUrl' },
  privacy: { label: 'privacy', setting: 'storefront.privacyUrl' },
  imprint: { label: 'imprint', setting: 'storefront.imprintUrl' }
} as const

export type LawPage = keyof typeof pages
export const lawPages = keysOf(pages)

/** Checks the name of a page in an address. */
export function isLawPage(name: string): name is LawPage {
  return Object.hasOwn(pages, name)
}

/** A text of the shop's own. `markdown` is without the title. */
export type LawText = { page: LawPage; language: Language; title: string; markdown: string }

const longestBytes = 200_000

/** The folder with the law texts of the shop, a folder for each language with a file for each page, such as `de/terms.md`. */
export function lawFolder(dataDir: string): string {
  return join(dataDir, 'law')
}

/** The path of a law text in its folder. */
function nameOf(page: LawPage, language: Language): string {
  return join(language, `${page}.md`)
}

/**
 * The law text in the language of the reader, else in that of the shop. Undefined without a file that can be shown: one that
 * still has blanks is not.
 */
export function findLawText(shop: Shop, page: LawPage): LawText | undefined {
  const wanted = [languageOf(shop), setting(shop.db, 'storefront.language')].map((tag) => baseOf(tag) ?? 'en')
  for (const language of new Set(wanted)) {
    const read = readLawFile(shop.config.dataDir, page, language)
    if (read === undefined || 'problem' in read || read.blanks.length > 0) continue
    return { page, language, ...titled(read.markdown, wordsOf({ ...shop, language }).t(pages[page].label)) }
  }
  return undefined
}

/** The text without the heading of its first line, which is its title. */
function titled(text: string, untitled: string): { title: string; markdown: string } {
  const [first = '', ...others] = text.trim().split('\n')
  return first.startsWith('# ')
    ? { title: first.slice(2).trim(), markdown: others.join('\n').trim() }
    : { title: untitled, markdown: text.trim() }
}

/** A link to a law text. */
export type LawLink = { page: LawPage; label: string; url: string }

/** The law texts that the shop has, for its footers: pages of the shop behind `base`, or elsewhere by their settings. */
export function lawLinks(shop: Shop, base = ''): LawLink[] {
  const { t } = wordsOf(shop)
  return lawPages.flatMap((page) => {
    const elsewhere = setting(shop.db, pages[page].setting)
    if (elsewhere === '' && findLawText(shop, page) === undefined) return []
    return [{ page, label: t(pages[page].label), url: elsewhere === '' ? `${base}${lawPath(page)}` : elsewhere }]
  })
}

/** The path of a law text on the pages of the shop. */
function lawPath(page: LawPage): string {
  return `/law/${page}`
}

type Read = { markdown: string; blanks: string[] } | { problem: string }

const known = new Map<string, { stamp: string; read: Read }>()

/** Reads a law text; undefined without a file. A file is read again only when it has changed. It does not throw. */
function readLawFile(dataDir: string, page: LawPage, language: Language): Read | undefined {
  const path = join(lawFolder(dataDir), nameOf(page, language))
  try {
    const stat = statSync(path)
    const stamp = `${stat.ino} ${stat.size} ${stat.mtimeMs}`
    const before = known.get(path)
    if (before?.stamp === stamp) return before.read
    const read = stat.isFile() ? parse(path, stat.size) : { problem: 'is not a file' }
    known.set(path, { stamp, read })
    return read
  } catch (error) {
    const code = codeOf(error)
    return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : { problem: `cannot be read: ${code}` }
  }
}

function parse(path: string, size: number): Read {
  if (size > longestBytes) return { problem: `is longer than ${longestBytes} bytes` }
  const bytes = readFileSync(path)
  if (!isUtf8(bytes)) return { problem: 'is not UTF-8 text' }
  const markdown = new TextDecoder().decode(bytes).replaceAll('\r\n', '\n')
  if (markdown.trim() === '') return { problem: 'is empty' }
  const blanks = [...markdown.matchAll(/\[\[([^[\]]*)\]\]/g)].map(([, blank = '']) => blank)
  return { markdown, blanks: [...new Set(blanks)] }
}

/** A file of the folder: which text it is, what is blank in it, and why it is not shown otherwise. */
export type LawFile = {
  name: string
  page: LawPage | null
  language: Language | null
  blanks: string[]
  problem: string | null
}

/** The files in the folder of law texts. */
export function listLawFiles(dataDir: string): LawFile[] {
  const folder = lawFolder(dataDir)
  const names = listFolder(folder)
    .filter((name) => !name.startsWith('.'))
    .toSorted()
  return names.flatMap((language): LawFile[] => {
    if (!isLanguage(language)) {
      const problem = `is not the folder of a language: ${Object.keys(languages).join(', ')}`
      return [{ name: language, page: null, language: null, blanks: [], problem }]
    }
    return listFolder(join(folder, language))
      .filter((name) => !name.startsWith('.'))
      .toSorted()
      .map((file) => {
        const page = file.replace(/\.md$/, '')
        const name = join(language, file)
        if (!file.endsWith('.md') || !isLawPage(page)) {
          const problem = `is not one of ${lawPages.map((each) => `${each}.md`).join(', ')}`
          return { name, page: null, language, blanks: [], problem }
        }
        const read = readLawFile(dataDir, page, language) ?? { problem: 'is a link to a missing file' }
        const found = 'problem' in read ? { blanks: [], problem: read.problem } : { blanks: read.blanks, problem: null }
        return { name, page, language, ...found }
      })
  })
}

/** The languages of the shop that have texts; of two with one base, such as de-AT and de, the base. */
export function lawLanguages(db: Db): Language[] {
  return [...new Set(offeredLanguages(db).map((tag) => baseOf(tag) ?? 'en'))]
}

/**
 * Writes a starting text for each law page and language that has no file, with what the settings know. What is not known
 * stays blank, as `[[telephone number]]`. Returns the names of the files that it wrote.
 */
export function writeLawFiles(shop: Shop, wanted: readonly Language[]): string[] {
  const written: string[] = []
  for (const language of wanted) {
    for (const page of lawPages) {
      const name = nameOf(page, language)
      const path = join(lawFolder(shop.config.dataDir), name)
      if (existsSync(path)) continue
      writeLawFile(path, startingText(shop, page, language))
      written.push(name)
    }
  }
  return written
}

function writeLawFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  const unfinished = unfinishedPath(dirname(path))
  writeFileSync(unfinished, text, { flag: 'wx' })
  syncToDisk(unfinished)
  renameSync(unfinished, path)
  syncFolderOf(path)
}

/** A law text as it is in its file, with blanks; empty without one that can be read. */
export function lawMarkdown(dataDir: string, page: LawPage, language: Language): string {
  const read = readLawFile(dataDir, page, language)
  return read === undefined || 'problem' in read ? '' : read.markdown
}

/** Stores a law text. @throws AppError VALIDATION_FAILED (`text`) for one that is empty or too long */
export function saveLawText(dataDir: string, page: LawPage, language: Language, markdown: string): void {
  const text = `${markdown.replaceAll('\r\n', '\n').trim()}\n`
  if (text.trim() === '') throw validationFailed({ text: ['Must not be empty.'] })
  if (Buffer.byteLength(text) > longestBytes)
    throw validationFailed({ text: [`Must be at most ${longestBytes} bytes.`] })
  writeLawFile(join(lawFolder(dataDir), nameOf(page, language)), text)
}

function startingText({ db, config }: Shop, page: LawPage, language: Language): string {
  const words = wordsOf({ db, config, language })
  const { t } = words
  const legal = sellerText(db, words)
  const values: Readonly<Record<string, string>> = {
    shop: setting(db, 'shop.name'),
    seller: legal === '' ? `[[${t('law.seller')}]]` : legal,
    days: String(setting(db, 'law.withdrawalDays')),
    cookieDays: String(setting(db, 'affiliates.cookieDays')),
    unpaidDays: String(setting(db, 'privacy.unpaidDays')),
    returnCosts: t(setting(db, 'shop.freeReturns') ? 'law.shopPaysReturn' : 'law.buyerPaysReturn')
  }
  return readFileSync(assetPath('shop', 'settings', 'law-texts', nameOf(page, language)), 'utf8').replaceAll(
    /\{\{(\w+)\}\}/g,
    (_mark, name: string) => values[name] ?? ''
  )
}
