import { findAll } from './enhance.js'
import './shell.js'

/** A button that copies the text of a field. Without permission for the clipboard, it selects it. */
for (const button of findAll('[data-copy]')) {
  const { copy, copied = '', selected = '' } = button.dataset
  const field = document.getElementById(copy ?? '')
  const news = button.parentElement?.querySelector('[role=status]')
  if (!(field instanceof HTMLInputElement) || !news) continue
  const select = () => {
    field.select()
    return selected
  }
  button.hidden = false
  button.addEventListener('click', () => {
    const done = navigator.clipboard?.writeText(field.value).then(() => copied, select) ?? Promise.resolve(select())
    void done.then((text) => news.replaceChildren(text))
  })
}
