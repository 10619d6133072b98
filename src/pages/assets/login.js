import { find, h } from './dom.js'
import { nextPath, onSend, say } from './form.js'
import { service } from './service.js'
import './shell.js'
import { t } from './texts.js'

const form = find('[data-form]')
const next = nextPath('/')
if (next !== '/') find('[data-register]').href = `/register?next=${encodeURIComponent(next)}`

async function logIn({ email, password, rememberMe }) {
  try {
    // People also enter a user name, which the service accepts only in `username`.
    await service.login({ ...(email.includes('@') ? { email } : { username: email }), password, rememberMe })
    location.assign(next)
  } catch (error) {
    if (error.code !== 'AUTH_EMAIL_NOT_VERIFIED') throw error
    say(
      form,
      `${t('login.verify')} `,
      h('button', { type: 'button', class: 'plain', onclick: () => resend(email) }, t('login.sendAgain'))
    )
  }
}

async function resend(email) {
  await service.resendVerification(email)
  say(form, t('login.sent'))
}

onSend(form, logIn, { username: 'email' })
