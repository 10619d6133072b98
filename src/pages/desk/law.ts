import {
  lawLanguages,
  lawLinks,
  lawMarkdown,
  lawPages as lawTexts,
  isLawPage,
  listLawFiles,
  saveLawText,
  writeLawFiles
} from '../../shop/settings/law-pages.ts'
import type { LawFile, LawPage } from '../../shop/settings/law-pages.ts'
import { notFound } from '../../platform/http/answers.ts'
import { isLanguage } from '../../platform/texts/languages.ts'
import type { Language } from '../../platform/texts/languages.ts'
import type { PageReply } from '../page.ts'
import { page } from './view.ts'
import type { Action, DeskCall, DeskPage, Item } from './view.ts'

const labels = {
  terms: 'terms',
  withdrawal: 'withdrawalInfo',
  privacy: 'privacy',
  imprint: 'imprint'
} as const satisfies Record<LawPage, string>

/** The texts that the law asks of a shop. */
export const lawPages: readonly DeskPage[] = [
  { path: /^\/desk\/law$/, name: '/desk/law', needs: 'settings', show: showLaw }
]

function showLaw(call: DeskCall): PageReply {
  const { app, words } = call
  const { t } = words
  const files = listLawFiles(app.config.dataDir)
  const items = lawLanguages(app.db).flatMap((language) =>
    lawTexts.map((text) =>
      textItem(
        call,
        text,
        language,
        files.find((file) => file.page === text && file.language === language)
      )
    )
  )
  const links = lawLinks(app, app.publicUrl())
  return page(call, {
    title: t('desk.law'),
    back: { label: t('desk.settings'), url: '/desk/settings' },
    blocks: [
      { kind: 'text', text: t('desk.lawText') },
      { kind: 'links', links: [{ label: t('desk.lawInit'), url: '/desk/law/init' }] },
      { kind: 'list', items, empty: '' },
      ...(links.length === 0 ? [] : [{ kind: 'links' as const, links }])
    ],
    command: 'shopstead law list'
  })
}

function textItem({ words }: DeskCall, text: LawPage, language: Language, file: LawFile | undefined): Item {
  const { t } = words
  const isShown = file !== undefined && file.problem === null && file.blanks.length === 0
  const state = isShown ? 'desk.lawShown' : file === undefined ? 'desk.lawMissing' : 'desk.lawBlank'
  return {
    name: `${t(labels[text])} (${language})`,
    url: `/desk/law/${language}/${text}`,
    state: { label: t(state), tone: isShown ? 'good' : 'wait' },
    hints: [file?.problem ?? '', (file?.blanks ?? []).join('; ')].filter(Boolean)
  }
}

/** The text that the path names. @throws AppError NOT_FOUND */
function namedText({ params }: DeskCall): { text: LawPage; language: Language } {
  const [language = '', text = ''] = params
  if (!isLanguage(language) || !isLawPage(text)) throw notFound()
  return { text, language }
}

export const lawActions: readonly Action[] = [
  {
    path: /^\/desk\/law\/init$/,
    name: '/desk/law/init',
    needs: 'settings.change',
    form: ({ words }) => ({
      title: words.t('desk.lawInit'),
      text: words.t('desk.lawInitText'),
      rows: [],
      submit: words.t('desk.lawInit'),
      back: { label: words.t('desk.law'), url: '/desk/law' }
    }),
    command: () => 'shopstead law init',
    run: ({ app }) => {
      writeLawFiles(app, lawLanguages(app.db))
      return '/desk/law'
    }
  },
  {
    path: /^\/desk\/law\/([a-z]{2})\/([a-z]{1,20})$/,
    name: '/desk/law/en/terms',
    needs: 'settings.change',
    form: (call) => {
      const { text, language } = namedText(call)
      const { t } = call.words
      return {
        title: `${t(labels[text])} (${language})`,
        text: t('desk.lawEditText'),
        rows: [[{ name: 'text', label: t(labels[text]), type: 'long', required: true }]],
        known: { text: lawMarkdown(call.app.config.dataDir, text, language) },
        submit: t('desk.save'),
        back: { label: t('desk.law'), url: '/desk/law' }
      }
    },
    version: (call) => {
      const { text, language } = namedText(call)
      return lawMarkdown(call.app.config.dataDir, text, language)
    },
    command: () => 'shopstead law list',
    run: (call, form) => {
      const { text, language } = namedText(call)
      saveLawText(call.app.config.dataDir, text, language, form.get('text') ?? '')
      return '/desk/law'
    }
  }
]
