import { ending, field, password, report, withOwnPassword } from './account-forms.js'
import { day, h } from './dom.js'
import { onSend } from './form.js'
import { service } from './service.js'
import { t, withNodes } from './texts.js'

/**
 * The email of the account, a change that waits for its link, and the form for another one. The email changes when the
 * link that is sent to the new address is used.
 *
 * @param {import('../../client/api-types.ts').Me} me
 * @param {{ pending: Pending | null }} change
 * @typedef {{ email: string, expiresAt: string }} Pending
 */
export function emailForm({ user }, { pending }) {
  const current = h('strong', {}, user.email)
  const waiting = h('div', { tabindex: '-1' })
  const form = h(
    'form',
    { novalidate: true },
    h('p', { class: 'hint' }, withNodes('email.current', { email: current })),
    waiting,
    field('email', t('email.new'), { type: 'email', autocomplete: 'email', required: true }),
    password('password', t('password'), 'current-password'),
    ...ending(t('email.change'))
  )
  /** @param {Pending | null} change */
  const show = (change) => waiting.replaceChildren(...(change === null ? [] : [pendingChange(change, show)]))
  onSend(form, async ({ email, password: own }) => {
    await withOwnPassword('password', () => service.changeEmail({ email, password: own }))
    const next = await service.emailChange()
    form.reset()
    show(next.pending)
    if (next.pending !== null) return report(form, t('email.openLink', { email: next.pending.email }))
    current.textContent = email
    report(form, t('saved'))
  })
  show(pending)
  return form
}

/** A change that waits for its link. Another account may have the address; then no email comes. */
function pendingChange({ email, expiresAt }, show) {
  const news = h('p', { role: 'status' })
  const act = (label, send) => {
    const button = h('button', { type: 'button', class: 'plain' }, label)
    button.addEventListener('click', async () => {
      button.disabled = true
      try {
        await send()
      } catch (error) {
        news.textContent = error.message
      }
      button.disabled = false
    })
    return button
  }
  const again = act(t('email.sendAgain'), async () => {
    await service.resendEmailChange()
    news.textContent = t('email.sentAgain', { email })
  })
  const withdraw = act(t('email.withdraw'), async () => {
    await service.withdrawEmailChange()
    const form = withdraw.closest('form')
    show(null)
    report(form, t('email.withdrawn'))
    form.querySelector('input').focus()
  })
  return h(
    'div',
    { class: 'note' },
    h('p', {}, withNodes('email.sent', { email: h('strong', {}, email), day: day(expiresAt) })),
    h('p', { class: 'actions' }, again, withdraw),
    news
  )
}
