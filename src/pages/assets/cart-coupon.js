import { h, money } from './dom.js'
import { mark, unmark } from './form.js'
import { t } from './texts.js'

/** Whether a code applies may change with the cart for these reasons. */
const dependsOnCart = new Set(['coupon_minimum', 'coupon_not_for_cart'])

/**
 * The coupon field. A code is sent when the buyer applies it, not while they type. A code that was refused is not sent
 * again for the same cart, because each wrong code counts against the limit on guesses.
 *
 * @param {HTMLInputElement} field
 * @param {HTMLElement} button
 * @param {() => void} changed
 */
export function createCoupon(field, button, changed) {
  let applied = field.value.trim()
  let refused = { code: '', items: '' }
  const news = h('p', { class: 'hint', role: 'status' })
  field.after(news)

  function apply() {
    const code = field.value.trim()
    if (code === applied && refused.code !== code) return
    applied = code
    refused = { code: '', items: '' }
    news.textContent = ''
    unmark(field)
    changed()
  }

  // The error goes while the buyer types. On the way to a button below, it would move the button from under the pointer.
  field.addEventListener('input', () => unmark(field))
  field.addEventListener('change', apply)
  button.addEventListener('click', apply)
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return
    // Enter in another field sends the order.
    event.preventDefault()
    apply()
  })

  function refuse(items, message, code = '') {
    news.textContent = ''
    refused = { code: applied, items: dependsOnCart.has(code) ? items : '' }
    mark(field, message)
  }

  return {
    /** The code to send for these items; undefined without one. */
    codeFor(items) {
      const isRefused = refused.code === applied && (refused.items === '' || refused.items === items)
      return applied === '' || isRefused ? undefined : applied
    },
    /** Shows what a quote says about the code. */
    showAnswer(items, { coupons, problems, discount, currency }) {
      const problem = problems.find(({ path }) => path === 'couponCode')
      const isAccepted = coupons.length > 0 && problem === undefined
      news.textContent = isAccepted
        ? t('cart.coupon', { code: applied.toUpperCase(), amount: money(discount, currency) })
        : ''
      if (isAccepted) unmark(field)
      else if (problem !== undefined) refuse(items, problem.message, problem.code)
    },
    refuse
  }
}
