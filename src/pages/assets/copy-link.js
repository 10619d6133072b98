import { h } from './dom.js'
import { t } from './texts.js'

/** A link with a button that copies it. Without permission for the clipboard, it selects the link. */
export function copyLink(link) {
  const field = h('input', { id: 'own-link', value: link, readonly: true })
  const news = h('span', { role: 'status' })
  const button = h('button', { type: 'button', class: 'quiet' }, t('affiliate.copy'))
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(link)
      news.textContent = t('affiliate.copied')
    } catch {
      field.select()
      news.textContent = t('affiliate.selected')
    }
  })
  return h(
    'div',
    { class: 'field' },
    h('label', { for: 'own-link' }, t('affiliate.link')),
    field,
    h('p', { class: 'actions' }, button, ' ', news)
  )
}
