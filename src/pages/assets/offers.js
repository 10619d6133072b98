import { find } from './enhance.js'
import './shell.js'

const list = find('[data-list]')
const search = find('#search')

/** Searches while the buyer types: replaces the list by the one of the page that a submitted search would open. */
let asked = 0

async function show(text) {
  const turn = ++asked
  const query = new URLSearchParams(text === '' ? {} : { search: text })
  const address = query.size === 0 ? '/' : `/?${query}`
  try {
    const response = await fetch(address, { headers: { accept: 'text/html' } })
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    const found = page.querySelector('[data-list]')
    if (turn !== asked || found === null) return
    history.replaceState(null, '', address)
    list.replaceChildren(...found.childNodes)
    dispatchEvent(new Event('list'))
    document.title = page.title
  } catch {
    // The browser is offline. Sending the form shows the browser's own message.
  }
}

let pause
search.addEventListener('input', () => {
  clearTimeout(pause)
  pause = setTimeout(() => void show(search.value.trim()), 150)
})
