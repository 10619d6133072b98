import { listNotes } from '../../shop/customers/notes.ts'
import type { NoteSubject } from '../../shop/customers/notes.ts'
import type { Field } from '../storefront/form-view.ts'
import { shellWord, textOf } from './view.ts'
import type { Block, DeskCall } from './view.ts'

/** What the people of the shop noted about an order or an account; nothing without a note. */
export function noteBlocks({ app, words }: DeskCall, about: NoteSubject): Block[] {
  const items = listNotes(app.db, about).map(({ at, by, text }) => ({
    name: text,
    hints: [`${words.time(Date.parse(at))} · ${by}`]
  }))
  return items.length === 0 ? [] : [{ kind: 'list', title: words.t('desk.shopNotes'), items, empty: '' }]
}

export function noteRows({ words }: Pick<DeskCall, 'words'>): Field[][] {
  return [[{ name: 'text', label: words.t('desk.note'), type: 'long', required: true }]]
}

export function noteCommand(group: 'orders' | 'users', id: number, form: URLSearchParams): string {
  return `shopstead ${group} note ${id} ${shellWord(textOf(form, 'text') ?? 'TEXT')}`
}
