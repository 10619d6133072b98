import { h } from './dom.js'

/** A link with a button that copies it. Without permission for the clipboard, it selects the link. */
export function copyLink(link) {
  const field = h('input', { id: 'own-link', value: link, readonly: true })
  const news = h('span', { role: 'status' })
  const button = h('button', { type: 'button', class: 'quiet' }, 'Copy the link')
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(link)
      news.textContent = 'Copied.'
    } catch {
      field.select()
      news.textContent = 'The link is selected: copy it with the keyboard or the menu.'
    }
  })
  return h(
    'div',
    { class: 'field' },
    h('label', { for: 'own-link' }, 'Your link'),
    field,
    h('p', { class: 'actions' }, button, ' ', news)
  )
}
