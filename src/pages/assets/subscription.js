import { day, h, money } from './dom.js'
import { service } from './service.js'
import { t, withNodes } from './texts.js'
import { labelOf, toneOf } from './words.js'

/**
 * A subscription in the list of the account page, with its actions.
 *
 * @param {import('../../client/api-types.ts').OwnSubscription} shown
 */
export function subscription(shown) {
  const place = h('div', {}, ...contents(shown))
  place.addEventListener('ended', (event) => {
    if (!(event instanceof CustomEvent)) return
    place.replaceChildren(...contents(event.detail))
    place.querySelector('[role=status]')?.replaceChildren(t('subscription.ended'))
  })
  return [place]
}

/** @param {import('../../client/api-types.ts').OwnSubscription} shown */
function contents(shown) {
  const { name, status, interval, amount, currency } = shown
  return [
    h('strong', {}, name),
    ' ',
    h('span', { class: `state ${toneOf(status)}` }, labelOf(status)),
    h('div', { class: 'hint' }, t(`subscription.${interval}`, { amount: money(amount, currency) }), ', ', next(shown)),
    h('p', { class: 'hint', role: 'status' }),
    actions(shown)
  ].filter((part) => part !== null)
}

function next({ status, nextPaymentAt, currentPeriodEnd }) {
  if (nextPaymentAt !== null) return withNodes('subscription.next', { day: day(nextPaymentAt) })
  if (status === 'past_due') return t('subscription.unpaid')
  return withNodes(status === 'active' ? 'subscription.endsOn' : 'subscription.endedOn', { day: day(currentPeriodEnd) })
}

function actions(shown) {
  const { name, canCancel, manageUrl } = shown
  if (!canCancel && manageUrl === null) return null
  const end = h(
    'button',
    { type: 'button', class: 'quiet', 'aria-label': t('subscription.endNamed', { name }) },
    t('subscription.end')
  )
  const row = h(
    'p',
    { class: 'actions' },
    // Only the path, because the page may be open under another host name than the public URL.
    manageUrl === null ? null : h('a', { href: new URL(manageUrl).pathname }, t('subscription.manage')),
    canCancel ? end : null
  )
  end.addEventListener('click', () => row.replaceWith(confirmation(shown, row, end)))
  return row
}

/** Asks for confirmation before it ends the subscription. The button to keep it restores the focus. */
function confirmation({ id, name, currentPeriodEnd, status }, row, opener) {
  const failure = h('p', { role: 'alert', class: 'error', hidden: true })
  const yes = h('button', { type: 'button' }, t('subscription.yes'))
  const no = h('button', { type: 'button', class: 'quiet' }, t('subscription.keep'))
  const consequence =
    status === 'past_due' ? t('subscription.now') : withNodes('subscription.access', { day: day(currentPeriodEnd) })
  const box = h(
    'div',
    { role: 'group', 'aria-label': t('subscription.endNamed', { name }) },
    h('p', {}, t('subscription.confirm'), ' ', consequence, ' ', t('subscription.noCharge')),
    failure,
    h('p', { class: 'actions' }, yes, no)
  )
  no.addEventListener('click', () => {
    box.replaceWith(row)
    opener.focus()
  })
  yes.addEventListener('click', async () => {
    yes.disabled = true
    try {
      const { subscription: ended } = await service.endSubscription(id)
      box.dispatchEvent(new CustomEvent('ended', { bubbles: true, detail: ended }))
    } catch (error) {
      failure.textContent = error.message
      failure.hidden = false
      yes.disabled = false
    }
  })
  queueMicrotask(() => yes.focus())
  return box
}
