import { day, h, money } from './dom.js'
import { service } from './service.js'
import { toneOf } from './words.js'

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
    place.querySelector('[role=status]')?.replaceChildren('Your subscription has been ended.')
  })
  return [place]
}

function contents(shown) {
  const { name, status, interval, amount, currency } = shown
  return [
    h('strong', {}, name),
    ' ',
    h('span', { class: `state ${toneOf(status)}` }, status.replace('_', ' ')),
    h('div', { class: 'hint' }, `${money(amount, currency)} every ${interval}, `, ...next(shown)),
    h('p', { class: 'hint', role: 'status' }),
    actions(shown)
  ].filter((part) => part !== null)
}

function next({ status, nextPaymentAt, currentPeriodEnd }) {
  if (nextPaymentAt !== null) return ['next payment on ', day(nextPaymentAt)]
  if (status === 'past_due') return ['the last payment failed']
  return [status === 'active' ? 'ends on ' : 'ended on ', day(currentPeriodEnd)]
}

function actions(shown) {
  const { name, canCancel, manageUrl } = shown
  if (!canCancel && manageUrl === null) return null
  const end = h(
    'button',
    { type: 'button', class: 'quiet', 'aria-label': `End subscription ${name}` },
    'End subscription'
  )
  const row = h(
    'p',
    { class: 'actions' },
    // Only the path, because the page may be open under another host name than the public URL.
    manageUrl === null ? null : h('a', { href: new URL(manageUrl).pathname }, 'Manage card and invoices'),
    canCancel ? end : null
  )
  end.addEventListener('click', () => row.replaceWith(confirmation(shown, row, end)))
  return row
}

/** Asks for confirmation before it ends the subscription. The button to keep it restores the focus. */
function confirmation({ id, name, currentPeriodEnd, status }, row, opener) {
  const failure = h('p', { role: 'alert', class: 'error', hidden: true })
  const yes = h('button', { type: 'button' }, 'Yes, end it')
  const no = h('button', { type: 'button', class: 'quiet' }, 'Keep it')
  const consequence = status === 'past_due' ? ['It ends now.'] : ['You keep access until ', day(currentPeriodEnd), '.']
  const box = h(
    'div',
    { role: 'group', 'aria-label': `End subscription ${name}` },
    h('p', {}, 'End this subscription? ', ...consequence, ' You will not be charged again.'),
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
