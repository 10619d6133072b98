import { t } from './texts.js'

/** Creates an element. Strings become text nodes, so that no response of the service is parsed as HTML. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value)
    else if (value === true) element.setAttribute(name, '')
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value))
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false))
  return element
}

/**
 * The first element that matches the selector, or null.
 *
 * @param {string} selector
 * @returns {HTMLElement | null}
 */
export function findMaybe(selector) {
  return document.querySelector(selector)
}

/**
 * @param {string} selector
 * @returns {HTMLElement[]}
 */
export function findAll(selector) {
  /** @type {NodeListOf<HTMLElement>} */
  const found = document.querySelectorAll(selector)
  return [...found]
}

/**
 * The element that matches the selector. The caller knows its type.
 *
 * @param {string} selector
 * @returns {any}
 */
export function find(selector) {
  const element = findMaybe(selector)
  if (element === null) throw new Error(`The page has no ${selector}`)
  return element
}

const { decimals, locale } = document.body.dataset

/** The picture of a product, or the initial of its name in its place. */
export function picture(image, name = '') {
  if (typeof image !== 'object' || image === null) {
    const [initial = ''] = name.trim().toLocaleUpperCase()
    return h('span', { class: 'art blank', 'aria-hidden': 'true' }, h('span', {}, initial))
  }
  const { url, srcset, width, height } = image
  return h('span', { class: 'art' }, h('img', { src: url, srcset, sizes: '6rem', width, height, alt: '' }))
}

/**
 * A picture of the API for `picture`: the page may show only pictures of its own host.
 *
 * @param {import('../../client/api-types.ts').Image | null} image
 */
export function ownPicture(image) {
  if (image === null) return null
  const { url, sizes, width, height } = image
  const path = (address) => new URL(address).pathname
  return { url: path(url), srcset: sizes.map((each) => `${path(each.url)} ${each.width}w`).join(', '), width, height }
}

/** An amount in major units, in the format of the shop's pages. */
export function money(amount, currency) {
  const digits = { minimumFractionDigits: Number(decimals), maximumFractionDigits: Number(decimals) }
  return new Intl.NumberFormat(locale, { style: 'currency', currency, ...digits }).format(amount)
}

export function day(iso) {
  const text = new Date(iso).toLocaleDateString(locale, { day: 'numeric', month: 'long', year: 'numeric' })
  return h('time', { datetime: iso }, text)
}

/** A message with links, under the heading of the page. */
export function message(title, text, ...links) {
  return h('div', { class: 'empty' }, h('h2', {}, title), ...textAndLinks(text, links))
}

function textAndLinks(text, links) {
  const buttons = links.map(([label, href]) => h('a', { class: 'button', href }, label))
  return [h('p', {}, text), h('p', { class: 'actions' }, ...buttons)]
}

/** Shows a page that a script renders, or an error message if that fails. */
export async function showPage(make) {
  const place = find('[data-page]')
  try {
    place.replaceChildren(await make())
  } catch (error) {
    place.replaceChildren(errorMessage(error))
  }
  place.removeAttribute('aria-busy')
}

function errorMessage(error) {
  // An error without a code is a bug in this page and must not look like a network problem.
  if (error.code === undefined) reportError(error)
  const here = `${location.pathname}${location.search}`
  if (error.code === 'NOT_AUTHENTICATED')
    return message(
      t('page.logIn'),
      t('page.logInText'),
      [t('link.logIn'), `/login?next=${encodeURIComponent(here)}`],
      [t('link.register'), `/register?next=${encodeURIComponent(here)}`]
    )
  return message(t('page.failed'), error.code === undefined ? t('page.broken') : error.message, [t('link.again'), here])
}
