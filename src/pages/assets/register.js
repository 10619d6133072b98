import { find, message } from './dom.js'
import { nextPath, onSend } from './form.js'
import { service } from './service.js'
import './shell.js'

const form = find('[data-form]')
const next = nextPath('/account')
find('[data-login]').href = `/login?next=${encodeURIComponent(next)}`

async function register(values) {
  const { data, meta } = await service.register(values)
  if (meta.nextStep !== 'VERIFY_EMAIL') return location.assign(next)
  const sent = message('Almost there', `We have sent a link to ${data.user.email}. Open it to finish, then log in.`, [
    'Log in',
    '/login'
  ])
  find('.sheet').replaceChildren(sent)
  find('main').focus()
}

onSend(form, register)
