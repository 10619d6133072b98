import { find, message } from './dom.js'
import { nextPath, onSend } from './form.js'
import { service } from './service.js'
import './shell.js'
import { t } from './texts.js'

const form = find('[data-form]')
const next = nextPath('/account')
find('[data-login]').href = `/login?next=${encodeURIComponent(next)}`

async function register(values) {
  const { data, meta } = await service.register(values)
  if (meta.nextStep !== 'VERIFY_EMAIL') return location.assign(next)
  const sent = message(t('register.almost'), t('register.sent', { email: data.user.email }), [
    t('link.logIn'),
    '/login'
  ])
  find('.sheet').replaceChildren(sent)
  find('main').focus()
}

onSend(form, register)
